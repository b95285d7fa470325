"""Groups of volunteers, such as a class: who belongs to them, how they count, and what they did together."""
