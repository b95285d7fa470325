"""Trust in answers: gold tasks, review, adaptive redundancy and weights."""
