"""Values as the first crowdd encrypted them: without a key's id, and for no place."""

from __future__ import annotations

import os

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from crowdd.core.secrets import Secrets


def encrypted_at_first(secrets: Secrets, text: str) -> bytes:
    """A value that every place opens."""
    nonce = os.urandom(12)
    return nonce + AESGCM(secrets.key("seal")).encrypt(nonce, text.encode(), None)
