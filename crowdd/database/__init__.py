"""The database: connections, transactions, tables, migrations and definitions; statements are with what uses them."""
