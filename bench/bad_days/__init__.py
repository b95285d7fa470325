"""Bad days that need privileges: full disks."""
