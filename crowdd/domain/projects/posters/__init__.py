"""Posters of projects as PDF: a page that is printed and pinned up, with a QR code that opens the project."""
