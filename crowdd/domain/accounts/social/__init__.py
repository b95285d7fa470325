"""Signing in with an account of another provider: OAuth 2 and OpenID Connect."""
