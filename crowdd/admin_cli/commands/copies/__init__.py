"""Commands that copy what a server has to another place."""
