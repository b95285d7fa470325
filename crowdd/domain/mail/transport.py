"""What hands messages to a mail server."""

from __future__ import annotations

from typing import Protocol

from crowdd.errors import CrowddError


class PostError(CrowddError):
    """An e-mail was not accepted. ``final``: it never will be. ``general``: no other e-mail is accepted now either."""

    def __init__(self, message: str, *, final: bool = False, general: bool = False) -> None:
        super().__init__(message)
        self.final, self.general = final, general


class Post(Protocol):
    """Hands a message to a mail server."""

    async def deliver(self, message: bytes, sender: str, recipient: str) -> None:
        """Return when the server has accepted the message. Raises PostError."""
        ...
