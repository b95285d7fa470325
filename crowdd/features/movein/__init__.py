"""Moving in from PyBossa and Zooniverse."""
