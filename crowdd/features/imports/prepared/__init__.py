"""Files that are no text: each is read once, in a process of its own, into rows that the importer reads."""
