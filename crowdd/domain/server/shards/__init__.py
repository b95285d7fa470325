"""Projects on several databases: which there are, where a project lives, and moving it."""
