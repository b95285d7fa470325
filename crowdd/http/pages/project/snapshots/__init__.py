"""Pages and files of snapshots."""
