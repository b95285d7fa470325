"""Exports: formats, columns, files that follow changes, and downloads."""
