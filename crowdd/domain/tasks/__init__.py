"""Tasks: handed out, answered, changed and read."""
