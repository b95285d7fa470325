"""A new project: its steps, and the checks before it is published."""
