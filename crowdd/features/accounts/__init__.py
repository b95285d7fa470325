"""Accounts: who they are, their passwords, sessions and proofs, invitations and one-time links."""
