"""Moving in from PyBossa: its rows become ours with the same ids."""
