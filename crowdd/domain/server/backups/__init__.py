"""Backups: their archives, the folder of scheduled ones, and bringing them back."""
