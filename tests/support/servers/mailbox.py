"""A mail server on a socket of its own, Twisted's, which keeps what it is given."""

from __future__ import annotations

import datetime
import ipaddress
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from twisted.cred.checkers import InMemoryUsernamePasswordDatabaseDontUse
from twisted.cred.portal import IRealm, Portal
from twisted.internet.defer import succeed
from twisted.internet.ssl import PrivateCertificate
from twisted.mail import smtp
from twisted.mail.imap4 import PLAINCredentials
from zope.interface import implementer

USER, PASSWORD = b"crowdd", b"a good password"


class Mailbox:
    """``letters`` are (recipient, message); ``refusals`` map a recipient to what it is refused with, once or always."""

    def __init__(self, reactor: Any, certificate: Any = None, *, sign_in: bool = False) -> None:
        self.letters: list[tuple[str, EmailMessage]] = []
        self.refusals: dict[str, int] = {}
        self.seen: list[bytes] = []  # every line that came before the text
        self._reactor, self._certificate, self._sign_in = reactor, certificate, sign_in
        self._port: Any = None

    def listen(self, port: int = 0, *, encrypted: bool = False) -> int:
        """Begins to take letters, and says where. ``encrypted``: from the first byte on (RFC 8314)."""
        factory = smtp.SMTPFactory()
        factory.protocol = self._protocol
        factory.portal = Portal(_Realm(self), [InMemoryUsernamePasswordDatabaseDontUse(**{USER.decode(): PASSWORD})])
        if encrypted:
            self._port = self._reactor.listenSSL(port, factory, self._certificate.options(), interface="127.0.0.1")
        else:
            self._port = self._reactor.listenTCP(port, factory, interface="127.0.0.1")
        return self._port.getHost().port

    async def close(self) -> None:
        if self._port is not None:
            await self._port.stopListening()
            self._port = None

    def _protocol(self) -> Any:
        made = _Recording({b"PLAIN": PLAINCredentials} if self._sign_in else None)
        made.seen, made.ctx = self.seen, self._certificate and self._certificate.options()
        made.delivery = None if self._sign_in else _Delivery(self)
        return made


class _Recording(smtp.ESMTP):
    seen: list[bytes]

    def state_COMMAND(self, line: bytes) -> Any:
        self.seen.append(line)
        return super().state_COMMAND(line)


@implementer(IRealm)
class _Realm:
    def __init__(self, mailbox: Mailbox) -> None:
        self._mailbox = mailbox

    def requestAvatar(self, avatar: bytes, mind: Any, *interfaces: Any) -> Any:
        return smtp.IMessageDelivery, _Delivery(self._mailbox), lambda: None


@implementer(smtp.IMessageDelivery)
class _Delivery:
    def __init__(self, mailbox: Mailbox) -> None:
        self._mailbox = mailbox

    def receivedHeader(self, helo: Any, origin: Any, recipients: Any) -> bytes:
        return b""

    def validateFrom(self, helo: Any, origin: Any) -> Any:
        return origin

    def validateTo(self, user: Any) -> Any:
        address = str(user.dest)
        if address in self._mailbox.refusals:
            raise smtp.SMTPBadRcpt(user, self._mailbox.refusals[address], "No, thank you")
        return lambda: _Message(self._mailbox, address)


@implementer(smtp.IMessage)
class _Message:
    def __init__(self, mailbox: Mailbox, recipient: str) -> None:
        self._mailbox, self._recipient, self._lines = mailbox, recipient, []

    def lineReceived(self, line: bytes) -> None:
        self._lines.append(line)

    def eomReceived(self) -> Any:
        message = message_from_bytes(b"\r\n".join([*self._lines, b""]), policy=policy.default)
        self._mailbox.letters.append((self._recipient, message))
        return succeed(None)

    def connectionLost(self) -> None:
        pass


def certificate(folder: Path) -> tuple[PrivateCertificate, Path]:
    """A certificate for this machine, and a file that makes programs believe it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    names = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    public = made.public_bytes(serialization.Encoding.PEM)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    trusted = folder / "trusted.pem"
    trusted.write_bytes(public)
    return PrivateCertificate.loadPEM(private + public), trusted
