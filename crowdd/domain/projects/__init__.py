"""Projects: their life, owners, statistics, pictures and lists."""
