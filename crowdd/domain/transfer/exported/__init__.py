"""Files that leave a project: what they are called, their columns, and how they are made and kept."""
