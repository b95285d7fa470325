"""The commands about projects, by what they work on."""
