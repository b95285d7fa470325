"""``crowdctl``: the program, and what its commands share."""
