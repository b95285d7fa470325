"""What answers say together: comparing them after the commit, and the agreement of projects."""
