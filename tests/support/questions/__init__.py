"""Lists of questions and guides to test with."""
