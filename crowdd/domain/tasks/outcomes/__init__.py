"""What answers say together: consensus by field, probabilities, and charts of results."""
