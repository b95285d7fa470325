"""Where letters go: to a mail server, or nowhere while mail is off."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Protocol

from crowdd.config import MailSettings
from crowdd.domain.mail.message import plain_address
from crowdd.errors import ConfigError, CrowddError, InvalidValueError


class PostError(CrowddError):
    """A letter was not taken. ``final``: it never will be. ``general``: nor will any other now."""

    def __init__(self, message: str, *, final: bool = False, general: bool = False) -> None:
        super().__init__(message)
        self.final, self.general = final, general


class Post(Protocol):
    """Hands a message to a mail server."""

    async def deliver(self, message: bytes, sender: str, recipient: str) -> None:
        """Returns when the server has taken it. Raises PostError."""
        ...


def post(reactor: Any, settings: MailSettings, host: str) -> Post | None:
    """The way to the configured mail server; None when mail is off. Raises ConfigError.

    ``host`` is what this server calls itself.
    """
    if not settings.host:
        return None
    try:
        plain_address(settings.sender)
    except InvalidValueError:
        raise ConfigError("Set [mail] sender to the address that e-mails come from.") from None
    # By name: importing it takes a third of a second and asks for this machine's name, perhaps over the network.
    made: Post = import_module("crowdd.domain.mail.smtp").Smtp(reactor, settings, host)
    return made
