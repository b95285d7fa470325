"""How much CPU single parts may take: measured alone, on a machine that has nothing else to do."""
