"""Templates: project folders with a card, from which drafts are made. Those of crowdd, of the site and of owners."""
