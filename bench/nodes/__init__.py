"""Several servers on one database, behind a proxy."""
