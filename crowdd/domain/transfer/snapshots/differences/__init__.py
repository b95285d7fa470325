"""What differs between two snapshots of a project: the process that compares them, and the files that it writes."""
