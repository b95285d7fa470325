"""SMTP, by Twisted: a connection for each e-mail."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.ssl import optionsForClientTLS
from twisted.mail import smtp

from crowdd.core.mail.backend import PostError
from crowdd.kernel.config.outbound import MailSettings

SECONDS = 30
"""How long the server may take for an answer."""

_NOT_SIGNED_IN = (530, 534, 535, 538)


class Smtp:
    """A mail server and how to sign in there."""

    def __init__(self, reactor: Any, settings: MailSettings, host: str) -> None:
        self._reactor, self._settings, self._host = reactor, settings, host

    async def deliver(self, message: bytes, sender: str, recipient: str) -> None:
        """Returns when the server has taken it. Raises PostError."""
        try:
            await self._send(message, sender, recipient)
        except smtp.SMTPClientError as error:
            raise meaning(error) from None

    def _send(self, message: bytes, sender: str, recipient: str) -> Deferred[Any]:
        settings, taken = self._settings, Deferred[Any](lambda _: connector.disconnect())
        factory = smtp.ESMTPSenderFactory(
            settings.user.encode(),
            settings.password.encode(),
            sender,
            recipient,
            BytesIO(message),
            taken,
            retries=0,
            timeout=SECONDS,
            heloFallback=settings.tls != "starttls" and not settings.user,
            requireAuthentication=bool(settings.user),
            requireTransportSecurity=settings.tls == "starttls",
            hostname=settings.host if settings.tls == "starttls" else None,
        )
        factory.domain = self._host.encode("idna")
        connector = self._connect(factory)
        return taken

    def _connect(self, factory: Any) -> Any:
        host, port = self._settings.host, self._settings.port
        if self._settings.tls == "implicit":
            return self._reactor.connectSSL(host, port, factory, optionsForClientTLS(host), timeout=SECONDS)
        return self._reactor.connectTCP(host, port, factory, timeout=SECONDS)


def meaning(error: smtp.SMTPClientError) -> PostError:
    """What an error of the server means for an e-mail.

    Its text is the server's last words alone: the dialogue that Twisted adds has the password in it. For a refused
    recipient Twisted says "No recipients accepted", and has the server's words beside the address.
    """
    refused: Any = error.addresses or [("", int(error.code), error.resp)]
    [(_address, code, response)] = refused  # there is one recipient
    words = response.decode("utf-8", "replace") if isinstance(response, bytes) else str(response)
    words = " ".join(words.split())  # of several lines
    reason = f"{code} {words}" if code > 0 else words
    about_letter = isinstance(error, smtp.SMTPDeliveryError) and code not in _NOT_SIGNED_IN
    return PostError(reason[:500], final=about_letter and 500 <= code < 600, general=not about_letter)
