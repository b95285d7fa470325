"""Robots with hands: volunteers who mean something, do it with real input, and look whether that is what was stored."""
