"""The way out, over real sockets: what is refused reaches nobody, and what answers badly is cut off."""

from __future__ import annotations

import datetime
import ipaddress
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import pytest_twisted
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from support.checks.refused import NAMES, PORT, REFUSED
from support.checks.shows import shows
from twisted.internet import reactor, ssl
from twisted.internet.defer import CancelledError, Deferred, ensureDeferred, succeed
from twisted.internet.protocol import Factory, Protocol
from twisted.internet.ssl import trustRootFromCertificates

from crowdd.core.outbound.client import Outgoing
from crowdd.kernel.errors import RefusedTargetError, UnreachableError

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"


class Server:
    """Listens on an address of this machine, keeps what it hears and says ``answer`` to each request."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []
        self.connections = 0
        self.answer: bytes | Callable[[Any], None] = ANSWER
        self.lost: Deferred[None] = Deferred()
        self._ports: list[Any] = []

    def listen(self, address: str, context: Any = None) -> int:
        factory = Factory.forProtocol(lambda: _Line(self))
        if context is None:
            port = reactor.listenTCP(0, factory, interface=address)
        else:
            port = reactor.listenSSL(0, factory, context, interface=address)
        self._ports.append(port)
        return int(port.getHost().port)

    def close(self) -> None:
        for port in self._ports:
            port.stopListening()


class _Line(Protocol):
    def __init__(self, server: Server) -> None:
        self._server, self._said = server, b""

    def connectionMade(self) -> None:
        self._server.connections += 1

    def dataReceived(self, data: bytes) -> None:
        self._said += data
        if b"\r\n\r\n" not in self._said:
            return
        self._server.heard.append(self._said)
        if callable(self._server.answer):
            self._server.answer(self.transport)
        else:
            self.transport.write(self._server.answer)

    def connectionLost(self, reason: Any = None) -> None:
        if not self._server.lost.called:
            self._server.lost.callback(None)


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


class Names:
    """A name server whose answers change, as NAMES says."""

    def __init__(self, **more: list[list[str]]) -> None:
        self.asked: list[str] = []
        self._names = NAMES | {name.replace("_", "."): answers for name, answers in more.items()}

    def __call__(self, host: str, port: int) -> Deferred[list[str]]:
        answers = self._names.get(host, [[host if host[0].isdigit() or ":" in host else "127.0.0.1"]])
        self.asked.append(host)
        return succeed(answers[min(self.asked.count(host), len(answers)) - 1])


@shows("outgoing-public")
@pytest.mark.parametrize("url", REFUSED)
@pytest_twisted.ensureDeferred
async def test_none_reaches_the_target(url, server):
    port = server.listen("127.0.0.1")
    names = Names()
    with pytest.raises(RefusedTargetError, match=REFUSED[url]):
        await Outgoing(reactor, [], names).request("POST", url.replace(PORT, str(port)), body=b"{}")
    assert (server.connections, server.heard) == (0, [])
    assert len(names.asked) <= 1


@shows("outgoing-public")
@pytest_twisted.ensureDeferred
async def test_the_name_is_asked_once_and_the_connection_goes_to_what_was_checked(server):
    """127.0.0.2 stands for the checked address: the name says 127.0.0.1 when it is asked again."""
    other = Server()
    port = server.listen("127.0.0.2")
    names = Names(turning_example=[["127.0.0.2"], ["127.0.0.1"]])
    reply = await Outgoing(reactor, ["turning.example:*"], names).request("GET", f"http://turning.example:{port}/x?y=1")
    assert (reply.status, reply.body, reply.whole, names.asked) == (200, b"hi", True, ["turning.example"])
    head = server.heard[0].split(b"\r\n")
    assert head[0] == b"GET /x?y=1 HTTP/1.1" and f"Host: turning.example:{port}".encode() in head
    assert other.connections == 0


@shows("outgoing-redirects")
@pytest_twisted.ensureDeferred
async def test_a_redirect_is_an_answer_and_nothing_else(server):
    port = server.listen("127.0.0.1")
    inner = Server()
    target = inner.listen("127.0.0.3")
    server.answer = f"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.3:{target}/\r\nContent-Length: 0\r\n\r\n".encode()
    reply = await Outgoing(reactor, ["127.0.0.1:*", "127.0.0.3"]).request(
        "POST", f"http://127.0.0.1:{port}/", body=b"x"
    )
    inner.close()
    assert (reply.status, reply.headers["location"]) == (302, f"http://127.0.0.3:{target}/")
    assert inner.connections == 0 and len(server.heard) == 1


class Hops:
    """Answers ``/<n>`` with a redirect to ``/<n - 1>`` until 0; ``/to?<address>`` with one to that address."""

    def __init__(self, server: Server, status: int = 302) -> None:
        self._server, self._status = server, status
        server.answer = self._answer

    def _answer(self, transport: Any) -> None:
        path = self._server.heard[-1].split()[1].decode()
        if path == "/0":
            return transport.write(ANSWER)
        location = path.removeprefix("/to?") if path.startswith("/to?") else f"{int(path[1:]) - 1}"
        head = f"HTTP/1.1 {self._status} On\r\nLocation: {location}\r\nContent-Length: 4\r\n\r\n"
        return transport.write(head.encode() + b"away")


@shows("outgoing-redirects")
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest_twisted.ensureDeferred
async def test_a_file_is_fetched_over_five_redirects_and_not_over_six(status, server):
    port, got = server.listen("127.0.0.1"), bytearray()
    Hops(server, status)
    outgoing, asked = Outgoing(reactor, ["127.0.0.1:*"]), {"seconds": 60.0, "max_bytes": 100, "sink": got.extend}
    reply = await outgoing.fetch(f"http://127.0.0.1:{port}/5", **asked)
    assert (reply.status, bytes(got), len(server.heard)) == (200, b"hi", 6)
    assert all(head.startswith(b"GET ") and b"authorization" not in head.lower() for head in server.heard)
    with pytest.raises(UnreachableError, match="redirects more than 5 times"):
        await outgoing.fetch(f"http://127.0.0.1:{port}/6", **asked)
    assert bytes(got) == b"hi"


@shows("outgoing-redirects")
@pytest.mark.parametrize("url", REFUSED)
@pytest_twisted.ensureDeferred
async def test_no_redirect_leads_where_the_first_address_may_not(url, server):
    inner = Server()
    other, port = inner.listen("127.0.0.1"), server.listen("127.0.0.2")
    Hops(server)
    outgoing = Outgoing(reactor, ["127.0.0.2:*"], Names())
    address = url.replace(PORT, str(other))
    if any(character in address for character in " \\\t\r\n\0") or not address.isascii() or not address:
        return  # no such text can stand in a header
    with pytest.raises((RefusedTargetError, UnreachableError)):
        await outgoing.fetch(f"http://127.0.0.2:{port}/to?{address}", seconds=60, max_bytes=9, sink=lambda data: None)
    assert (inner.connections, inner.heard) == (0, [])
    inner.close()


@pytest_twisted.ensureDeferred
async def test_https_redirects_to_https_only(server):
    context, root = certificate("safe.example")
    secure, port, got = Server(), server.listen("127.0.0.1"), bytearray()
    secure_port = secure.listen("127.0.0.1", context)
    Hops(secure)
    names = Names(safe_example=[["127.0.0.1"]])
    outgoing = Outgoing(reactor, ["safe.example:*", "127.0.0.1:*"], names, trust_root=root)
    asked = {"seconds": 60.0, "max_bytes": 100, "sink": got.extend}
    assert (await outgoing.fetch(f"https://safe.example:{secure_port}/2", **asked)).status == 200
    with pytest.raises(RefusedTargetError, match="from https to http"):
        await outgoing.fetch(f"https://safe.example:{secure_port}/to?http://127.0.0.1:{port}/", **asked)
    assert server.connections == 0 and bytes(got) == b"hi"
    secure.close()


@pytest_twisted.ensureDeferred
async def test_a_redirect_without_an_address_is_told(server):
    port = server.listen("127.0.0.1")
    server.answer = b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n"
    with pytest.raises(UnreachableError, match="without naming a target"):
        await Outgoing(reactor, ["127.0.0.1:*"]).fetch(
            f"http://127.0.0.1:{port}/", seconds=60, max_bytes=9, sink=lambda data: None
        )


@pytest_twisted.ensureDeferred
async def test_the_next_address_is_tried_when_one_takes_no_connections(server):
    port = server.listen("127.0.0.2")
    names = Names(two_example=[["127.0.0.1", "127.0.0.2"]])
    assert (
        await Outgoing(reactor, ["two.example:*"], names).request("GET", f"http://two.example:{port}/")
    ).status == 200


@pytest_twisted.ensureDeferred
async def test_a_long_body_is_cut_and_the_connection_broken_off(server):
    port = server.listen("127.0.0.1")
    server.answer = b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 5_000_000
    reply = await Outgoing(reactor, ["127.0.0.1:*"]).request("GET", f"http://127.0.0.1:{port}/", max_bytes=1000)
    assert (len(reply.body), reply.whole) == (1000, False)
    await server.lost


@pytest_twisted.ensureDeferred
async def test_a_head_without_end_is_broken_off(server):
    port = server.listen("127.0.0.1")
    server.answer = b"HTTP/1.1 200 OK\r\n" + b"X-More: and more\r\n" * 100_000
    with pytest.raises(UnreachableError, match="closed the connection before"):
        await Outgoing(reactor, ["127.0.0.1:*"]).request("GET", f"http://127.0.0.1:{port}/", seconds=60)
    await server.lost


@pytest_twisted.ensureDeferred
async def test_what_comes_packed_is_not_unpacked(server):
    port = server.listen("127.0.0.1")
    server.answer = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n\x1f\x8b"
    reply = await Outgoing(reactor, ["127.0.0.1:*"]).request("GET", f"http://127.0.0.1:{port}/")
    assert reply.body == b"\x1f\x8b" and b"Accept-Encoding: identity" in server.heard[0]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda transport: None, "did not respond within 0.3 seconds"),
        (lambda transport: transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhal"), "within 0.3 seconds"),
        (lambda transport: transport.abortConnection(), "closed the connection"),
        (lambda transport: transport.loseConnection(), "closed the connection"),
        (lambda transport: transport.write(b"220 smtp.example ESMTP\r\n"), "valid HTTP response"),
    ],
    ids=["hangs", "hangs in its answer", "resets", "closes", "is no web server"],
)
@pytest_twisted.ensureDeferred
async def test_a_bad_receiver_is_told_in_a_sentence(answer, words, server):
    port = server.listen("127.0.0.1")
    server.answer = answer
    seconds = 0.3 if "0.3 seconds" in words else 60
    with pytest.raises(UnreachableError, match=words):
        await Outgoing(reactor, ["127.0.0.1:*"]).request("GET", f"http://127.0.0.1:{port}/", seconds=seconds)
    await server.lost


@pytest_twisted.ensureDeferred
async def test_who_goes_before_the_answer_breaks_it_off(server):
    port = server.listen("127.0.0.1")
    server.answer = lambda transport: asking.cancel()
    asking = ensureDeferred(Outgoing(reactor, ["127.0.0.1:*"]).request("GET", f"http://127.0.0.1:{port}/", seconds=60))
    with pytest.raises(CancelledError):
        await asking
    await server.lost


@pytest_twisted.ensureDeferred
async def test_nobody_there(server):
    port = server.listen("127.0.0.1")
    server.close()
    with pytest.raises(UnreachableError, match=f"127.0.0.1 port {port} refused the connection"):
        await Outgoing(reactor, ["127.0.0.1:*"]).request("GET", f"http://127.0.0.1:{port}/")
    with pytest.raises(UnreachableError, match=r"The host name nowhere\.example has no address"):
        await Outgoing(reactor, [], Names()).request("GET", "http://nowhere.example/")


@pytest_twisted.ensureDeferred
async def test_a_slow_name_server_is_asked_once_for_a_name_and_not_waited_for():
    asked: list[str] = []

    def slow(host: str, port: int) -> Deferred[list[str]]:
        asked.append(host)
        return Deferred()

    outgoing = Outgoing(reactor, [], slow)
    for _ in range(2):
        with pytest.raises(UnreachableError, match=r"within 0\.05 seconds"):
            await outgoing.request("GET", "http://slow.example/", seconds=0.05)
    assert asked == ["slow.example"]


def certificate(name: str) -> tuple[Any, Any]:
    """A server's context with a certificate of its own for a name, and what has to be trusted to believe it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder().subject_name(subject).issuer_name(subject).public_key(key.public_key())
        .serial_number(1).not_valid_before(now - datetime.timedelta(1)).not_valid_after(now + datetime.timedelta(1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    pem = made.public_bytes(serialization.Encoding.PEM) + key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    pair = ssl.PrivateCertificate.loadPEM(pem)
    return pair.options(), trustRootFromCertificates([ssl.Certificate.loadPEM(pem)])


@pytest_twisted.ensureDeferred
async def test_the_certificate_has_to_be_one_of_the_host_name_and_trusted(server):
    context, root = certificate("hooks.example")
    port = server.listen("127.0.0.1", context)
    allowed = ["hooks.example:*", "other.example:*"]
    trusting = Outgoing(reactor, allowed, Names(), root)
    assert (await trusting.request("POST", f"https://hooks.example:{port}/", body=b"{}")).body == b"hi"
    with pytest.raises(UnreachableError, match=r"not valid for other\.example|secure connection"):
        await trusting.request("POST", f"https://other.example:{port}/", body=b"secret")
    with pytest.raises(UnreachableError, match="secure connection"):
        await Outgoing(reactor, allowed, Names()).request("POST", f"https://hooks.example:{port}/", body=b"secret")
    heard = b"".join(server.heard)
    assert heard.startswith(b"POST / HTTP/1.1\r\n") and b"secret" not in heard


def test_addresses_of_the_cases_are_what_they_say():
    assert all(ipaddress.ip_address(text) for answers in NAMES.values() for answer in answers for text in answer)
