"""Exports of a Zooniverse project: subjects become tasks, classifications become answers."""
