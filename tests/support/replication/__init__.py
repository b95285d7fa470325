"""PostgreSQL servers that copy another one."""
