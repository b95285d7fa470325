"""What enters and leaves a project in files: imports, exports, project folders."""
