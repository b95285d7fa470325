"""The methods of analyses, one file each. None of them knows where answers come from or where results go."""
