"""The server as a whole: bootstrap, backup, checks, keys and clean-up."""
