"""Pages of templates: the gallery, and templates made of projects."""
