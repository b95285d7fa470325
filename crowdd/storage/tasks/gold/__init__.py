"""Gold tasks: made, changed, ended, and what their answers were."""
