"""The token that a request brings for an external user."""

from __future__ import annotations

from crowdd.http.request import Incoming


def bearer_token(incoming: Incoming) -> str | None:
    """The token of ``Authorization: Bearer <token>``; None where the header says something else."""
    words = incoming.header("authorization").split()
    return words[1] if len(words) == 2 and words[0].lower() == "bearer" else None
