"""Hand e-mails to a mail server, or to nothing while mail is off."""

from __future__ import annotations

from importlib import import_module
from typing import Protocol

from crowdd.core.mail.message import plain_address
from crowdd.kernel.config.outbound import MailSettings
from crowdd.kernel.errors import ConfigError, CrowddError, InvalidValueError
from crowdd.kernel.reactor import IReactor


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


def post(reactor: IReactor, settings: MailSettings, host: str) -> Post | None:
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
    made: Post = import_module("crowdd.core.mail.smtp").Smtp(reactor, settings, host)
    return made
