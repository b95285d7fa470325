"""Tasks: assignment, answers, leases, changes, lists, bars, volunteers and comments."""
