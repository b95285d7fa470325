"""The token that a request brings for an external user."""

from __future__ import annotations

from crowdd.domain.accounts.api_tokens import PREFIX
from crowdd.http.request import Incoming


def bearer_token(incoming: Incoming) -> str | None:
    """The token of ``Authorization: Bearer <token>``; None where the header says something else.

    A token of an account is something else: it says who asks.
    """
    words = incoming.header("authorization").split()
    external = len(words) == 2 and words[0].lower() == "bearer" and not words[1].startswith(PREFIX)
    return words[1] if external else None
