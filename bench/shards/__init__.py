"""Projects on several PostgreSQL servers: what a second one adds, and moving a project beside volunteers."""
