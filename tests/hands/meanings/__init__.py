"""What volunteers may mean with a question of each type, and what they do for it."""
