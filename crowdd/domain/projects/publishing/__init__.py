"""Before a project is published: what should be there, and how long the answers take."""
