"""Earlier versions of questions and guides."""
