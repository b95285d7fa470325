"""Where e-mails go: to a mail server, or nowhere while mail is off."""

from __future__ import annotations

from importlib import import_module

from crowdd.config.outbound import MailSettings
from crowdd.domain.mail.message import plain_address
from crowdd.domain.mail.transport import Post
from crowdd.errors import ConfigError, InvalidValueError
from crowdd.reactor import IReactor


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
    made: Post = import_module("crowdd.domain.mail.smtp").Smtp(reactor, settings, host)
    return made
