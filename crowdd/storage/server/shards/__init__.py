"""Statements about databases that projects live on besides the first one."""
