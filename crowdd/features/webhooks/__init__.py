"""Webhooks of projects: settings and pages. The scheduler delivers."""
