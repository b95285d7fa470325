"""The only place with SQL: connections, tables, migrations, definitions, and statements by noun."""
