"""Rows of every kind: read and written, who may, and earlier versions."""
