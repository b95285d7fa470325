"""Who sends a request: identity, cookies, CSRF tokens, confirmations."""
