"""Media that owners bring: parts of files, groups by name, and the tasks that files become."""
