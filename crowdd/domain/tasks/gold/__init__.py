"""Gold tasks: making and ending them, and comparing answers with what is right."""
