"""How a snapshot describes itself, one standard per file."""
