"""The only place with SQL: connections, migrations, definitions, and statements by noun."""
