"""What rows were at a time: the versions that have ended, and the rows that have not changed since."""
