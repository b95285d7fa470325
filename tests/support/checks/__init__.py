"""What tests compare with, and what they send."""
