"""Media files of projects: the stores that hold them, and the process that prepares them."""
