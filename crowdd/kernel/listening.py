"""The port: sockets, the number of connections, and TLS."""

from __future__ import annotations

import resource
import socket
import time
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.serialization import load_pem_private_key
from cryptography.x509 import load_pem_x509_certificates
from OpenSSL.crypto import X509, PKey
from OpenSSL.SSL import Connection
from OpenSSL.SSL import Error as SslError
from twisted.internet.interfaces import IOpenSSLServerConnectionCreator
from twisted.internet.protocol import Factory
from twisted.internet.ssl import CertificateOptions, TLSVersion
from twisted.logger import Logger
from twisted.protocols.tls import TLSMemoryBIOFactory, TLSMemoryBIOProtocol
from zope.interface import implementer

from crowdd.kernel.config import Settings
from crowdd.kernel.config.server import HttpSettings
from crowdd.kernel.errors import ConfigError

log = Logger()
BACKLOG = 1024
OTHER_FILES = 500  # open at once beside the connections of clients
_TAKEN = 98
_PATIENCE, _PAUSE = 3.0, 0.1  # seconds in which the workers of a killed server exit


def bind(settings: Settings, *, several: bool = False) -> socket.socket:
    """A listening socket. Raises ConfigError if the port is taken or not permitted.

    ``several``: one of many sockets on the same port, over which the kernel distributes connections (SO_REUSEPORT).
    """
    here, port = settings.http.host, settings.http.port
    try:
        return _bound(here, port, several)
    except OSError as error:
        words = "is used by another program" if error.errno == _TAKEN else f"cannot be used ({error.strerror})"
        raise ConfigError(
            f"{here} port {port} {words}. Choose another one: [http] port, or CROWDD_HTTP_PORT."
        ) from None


def bind_many(settings: Settings, number: int) -> list[socket.socket]:
    """This number of sockets on one port. Raises ConfigError, also if another crowdd uses the port."""
    _require_free(settings)
    first = bind(settings, several=True)
    if not settings.http.port:
        raise ConfigError("Several workers need a fixed port: set [http] port, or CROWDD_HTTP_PORT.")
    return [first, *(bind(settings, several=True) for _ in range(number - 1))]


def _require_free(settings: Settings) -> None:
    """Bind a socket that does not share the port, which fails while another program uses it."""
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            bind(settings).close()
        except ConfigError:
            if time.monotonic() > end:
                raise
            time.sleep(_PAUSE)
        else:
            return


def _bound(host: str, port: int, several: bool) -> socket.socket:
    family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if several:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    listener.setblocking(False)
    return listener


def allow_connections(wanted: int) -> int:
    """Raise the limit on open files for ``wanted`` connections. Return the number possible; log if that is less."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + OTHER_FILES
    allowed = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    if allowed < needed:
        log.warn("limit on open files is too low for [http] max_connections: {allowed}", allowed=allowed)
    return max(1, allowed - OTHER_FILES)


@implementer(IOpenSSLServerConnectionCreator)
class Certificate:
    """The certificate of the server. Each new connection gets the one that was read last."""

    def __init__(self, options: CertificateOptions) -> None:
        self.options = options

    def serverConnectionForTLS(self, tlsProtocol: TLSMemoryBIOProtocol) -> Connection:
        return Connection(self.options.getContext(), None)

    def over(self, factory: Factory[Any]) -> TLSMemoryBIOFactory:
        """The factory behind TLS."""
        return TLSMemoryBIOFactory(self, False, factory)


def read_certificate(settings: HttpSettings) -> CertificateOptions | None:
    """The configured certificate, None without one. Raises ConfigError when it cannot be used."""
    if not settings.tls_certificate:
        return None
    try:
        first, *chain = load_pem_x509_certificates(Path(settings.tls_certificate).read_bytes())
        key = load_pem_private_key(Path(settings.tls_key or settings.tls_certificate).read_bytes(), None)
        options = CertificateOptions(
            privateKey=PKey.from_cryptography_key(key),  # type: ignore[arg-type]
            certificate=X509.from_cryptography(first),
            extraCertChain=[X509.from_cryptography(each) for each in chain],
            raiseMinimumTo=TLSVersion.TLSv1_2,
        )
        options.getContext().check_privatekey()
    except OSError as error:
        words = f"Cannot read {error.filename}: {error.strerror}"
        raise ConfigError(f"{words}. Check [http] tls_certificate and tls_key.") from None
    except (ValueError, TypeError, SslError) as error:
        raise ConfigError(f"[http] tls_certificate and tls_key do not match: {error}.") from None
    return options
