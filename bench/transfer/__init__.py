"""Imports, exports, and a whole project by files."""
