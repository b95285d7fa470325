"""Templates and examples: the gallery, project folders, drafts, and templates made of projects."""
