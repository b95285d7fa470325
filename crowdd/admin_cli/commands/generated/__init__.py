"""Commands that write files from the other commands: completion and manual pages."""
