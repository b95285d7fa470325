"""Signatures of what crowdd sends, as Standard Webhooks has them (standardwebhooks.com, symmetric scheme v1)."""

from __future__ import annotations

import base64
import hmac
import os
from collections.abc import Iterable

_PREFIX = "whsec_"
_BYTES = 32


def new_secret() -> str:
    """A new secret as receivers are given it: ``whsec_`` and 32 random bytes in base64."""
    return _PREFIX + base64.b64encode(os.urandom(_BYTES)).decode()


def headers(secrets: Iterable[str], message_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """The three headers of a message; one signature for each secret, so that receivers may know any of them.

    ``message_id`` has no full stop and is the same whenever the message is sent; ``timestamp`` is epoch seconds.
    """
    signed = f"{message_id}.{timestamp}.".encode() + body
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(_signature(secret, signed) for secret in secrets),
    }


def _signature(secret: str, signed: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(_PREFIX))
    return "v1," + base64.b64encode(hmac.digest(key, signed, "sha256")).decode()
