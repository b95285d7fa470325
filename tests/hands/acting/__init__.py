"""How volunteers do what they mean, by what they see on the screen."""
