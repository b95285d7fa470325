"""Signing in: passwords, second factors, passkeys, providers, keys, registration, and who asks."""
