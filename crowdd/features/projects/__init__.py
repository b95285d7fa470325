"""Projects: record and life cycle, owners, lists, pictures, settings, blog, sharing, posters and starters."""
