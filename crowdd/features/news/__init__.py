"""News for those who come back: notices, the weekly e-mail with them, and the home page of a volunteer."""
