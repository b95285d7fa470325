"""Resources of what leaves a project."""
