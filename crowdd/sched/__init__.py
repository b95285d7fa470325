"""Work in the background: periodic jobs, background tasks, upkeep of assignment, numbering and delivery of events."""
