"""What a request proves: cookies, CSRF tokens, recent confirmations."""
