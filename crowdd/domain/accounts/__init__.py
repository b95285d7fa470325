"""People with accounts: how they come, sign in, change what is known of them, and go."""
