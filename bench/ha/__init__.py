"""Three PostgreSQL servers under Patroni, of which the primary fails under load."""
