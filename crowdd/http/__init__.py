"""HTTP: router, requests, responses, negotiation and errors."""
