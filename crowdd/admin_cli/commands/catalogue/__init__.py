"""The commands about what projects are found by and made of: categories and templates."""
