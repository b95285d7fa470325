"""Media files of projects: where they are kept, and what is made of the files that owners bring."""
