"""Webhooks: the events of a project, their deliveries, and what receivers are sent."""
