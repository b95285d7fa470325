"""What answers say together: analyses of them, and decisions of reviewers."""
