"""What pages are made of: templates, forms, languages, static files, the presenter frame."""
