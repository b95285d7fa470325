"""What people and administrators see and do with accounts: profiles, personal data, deletion."""
