"""What the suite does with its own tests."""
