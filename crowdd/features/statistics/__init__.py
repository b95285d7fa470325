"""Figures of projects: statistics, live updates, and how long the answers take."""
