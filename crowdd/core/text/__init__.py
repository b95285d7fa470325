"""Texts for people: Markdown, the HTML that is made of it, and relative times."""
