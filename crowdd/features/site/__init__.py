"""The site as a whole: front page, texts, announcements, categories, dashboard and settings."""
