"""Pages of a project's data: tasks, imports, exports, volunteers."""
