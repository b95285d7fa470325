"""What reading costs, as a share of what the stack under crowdd can do at all."""
