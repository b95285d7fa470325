"""A server whose disks fill up. Needs root."""
