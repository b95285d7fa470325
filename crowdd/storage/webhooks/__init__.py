"""Statements about webhooks, deliveries and events."""
