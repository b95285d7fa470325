"""Translations: the texts of a project in other languages, and who writes them."""
