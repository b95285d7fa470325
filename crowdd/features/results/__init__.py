"""Results: finished tasks, what their answers say together, and charts."""
