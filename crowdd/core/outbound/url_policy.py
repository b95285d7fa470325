"""Which addresses of the network crowdd may be sent to by somebody else's wish: pure decisions (record 42).

A URL is taken apart here once, and strictly; what another parser could read differently is refused. Whether an address
is public is asked again for each one that a name resolves to.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Set
from urllib.parse import SplitResult, quote, urlsplit

import attrs
import idna

from crowdd.kernel.errors import RefusedTargetError
from crowdd.kernel.languages import _

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

MAX_CHARACTERS = 2000
_DEFAULT_PORTS = {"http": 80, "https": 443}
_MIN_FREE_PORT = 1024
# Above 1023, and still no web server: those that browsers refuse (WHATWG Fetch, "bad port"), and databases.
_OTHER_SERVICES = frozenset(
    {1719, 1720, 1723, 2049, 2375, 3306, 3659, 4045, 4190, 5060, 5061, 5432, 6000, 6379, 6566}
    | {6665, 6666, 6667, 6668, 6669, 6679, 6697, 9200, 10080, 11211, 27017}
)
_UNSAFE = re.compile(r"[\x00-\x20\x7f-\xa0\\]")
_PLAIN_HOST = re.compile(r"[a-z0-9._-]+")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_IN_PATHS, _IN_QUERIES = "%/:@!$&'()*+,;=~", "%/:@!$&'()*+,;=~?"

# The first network that holds an address says what it is. After these only what is public by IANA's registries is left.
_SPECIAL = tuple(
    (ipaddress.ip_network(network), words)
    for network, words in (
        ("0.0.0.0/8", _("this host")),
        ("10.0.0.0/8", _("a private address")),
        ("100.64.0.0/10", _("an address inside a provider's network")),
        ("127.0.0.0/8", _("a loopback address")),
        ("161.26.0.0/16", _("an address inside a provider's network")),  # services of IBM Cloud for its machines
        ("166.8.0.0/14", _("an address inside a provider's network")),  # the same
        ("168.63.129.16/32", _("an address inside a provider's network")),  # Azure's host, with secrets of the machine
        ("169.254.0.0/16", _("a link-local address")),
        ("172.16.0.0/12", _("a private address")),
        ("192.0.0.0/24", _("an address reserved for protocols")),
        ("192.88.99.0/24", _("a 6to4 relay")),
        ("192.168.0.0/16", _("a private address")),
        ("198.18.0.0/15", _("an address reserved for measurements")),
        ("224.0.0.0/4", _("a multicast address")),
        ("255.255.255.255/32", _("the broadcast address")),
        ("240.0.0.0/4", _("a reserved address")),
        ("::/128", _("this host")),
        ("::1/128", _("a loopback address")),
        ("64:ff9b:1::/48", _("a private address")),
        ("2001::/32", _("a Teredo address")),
        ("fc00::/7", _("a private address")),
        ("fe80::/10", _("a link-local address")),
        ("fec0::/10", _("a site-local address")),
        ("ff00::/8", _("a multicast address")),
    )
)
_UNICAST = ipaddress.ip_network("2000::/3")
# IPv6 networks whose addresses carry an IPv4 address that they are translated to, and how far it is from the end.
_CARRIERS = tuple(
    (ipaddress.IPv6Network(network), shift)
    for network, shift in (("::ffff:0:0/96", 0), ("::/96", 0), ("64:ff9b::/96", 0), ("2002::/16", 80))
)
_ISATAP = (0x00005EFE, 0x02005EFE)


@attrs.frozen
class Target:
    """Where a request goes. ``host`` is ASCII in lower case, an IPv6 address without brackets.

    ``trusted``: the operator named this host and port, so that it may be anywhere.
    """

    scheme: str
    host: str
    port: int
    path: str
    trusted: bool

    @property
    def url(self) -> str:
        """The address in its one spelling."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _DEFAULT_PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.path}"


def target(url: str, allowed: Set[tuple[str, int]] = frozenset()) -> Target:
    """The target that a URL names; ``allowed`` are hosts and ports that the operator trusts (``options.endpoints``).

    Raises RefusedTargetError with a sentence for the person who wrote the URL.
    """
    parts = _split(url)
    host = _host(parts.hostname or "")
    port = _port(parts)
    trusted = (host, port) in allowed or (host, 0) in allowed
    if not trusted:
        require_web_port(port)
        if (literal := _literal(host)) is not None:
            require_public(literal)
    path = quote(parts.path or "/", safe=_IN_PATHS) + (
        f"?{quote(parts.query, safe=_IN_QUERIES)}" if parts.query else ""
    )
    return Target(parts.scheme, host, port, path, trusted)


def require_public(address: Address) -> None:
    """Raises RefusedTargetError for an address that is not everybody's to ask."""
    reason = why_not_public(address)
    if reason:
        words = _("%(address)s is %(reason)s. Use a public address.", address=str(address), reason=reason)
        raise RefusedTargetError(words)


def require_web_port(port: int) -> None:
    """Raises RefusedTargetError for a port behind which other things than web servers are."""
    if port in _DEFAULT_PORTS.values() or (port >= _MIN_FREE_PORT and port not in _OTHER_SERVICES):
        return
    raise RefusedTargetError(_("Port %(port)s is not a web port. Use another one.", port=port))


def why_not_public(address: Address) -> str:
    """What sort of address it is, "" for a public one. One that carries another is what that one is."""
    for network, words in _SPECIAL:
        if address.version == network.version and address in network:
            return words
    if isinstance(address, ipaddress.IPv6Address):
        inner = carried(address)
        if inner is not None:
            reason = why_not_public(inner)
            return _("%(address)s in another form, %(reason)s", address=str(inner), reason=reason) if reason else ""
        if address not in _UNICAST:
            return _("a reserved address")
    return "" if address.is_global else _("a reserved address")


def carried(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address inside an IPv6 one: mapped, compatible, NAT64, 6to4, ISATAP."""
    for network, shift in _CARRIERS:
        if address in network:
            return ipaddress.IPv4Address((int(address) >> shift) & 0xFFFFFFFF)
    if (int(address) >> 32) & 0xFFFFFFFF in _ISATAP:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return None


def _split(url: str) -> SplitResult:
    if len(url) > MAX_CHARACTERS:
        raise RefusedTargetError(_("The address is longer than %(maximum)s characters.", maximum=MAX_CHARACTERS))
    if _UNSAFE.search(url):
        raise RefusedTargetError(_("The address contains a space, a control character or a backslash."))
    try:
        parts = urlsplit(url)
    except ValueError:
        raise RefusedTargetError(_("The address is not valid.")) from None
    if parts.scheme not in _DEFAULT_PORTS:
        raise RefusedTargetError(_("The address does not begin with http:// or https://."))
    if "@" in parts.netloc:
        raise RefusedTargetError(_("Remove the user name and password from the address."))
    return parts


def _port(parts: SplitResult) -> int:
    try:
        return parts.port if parts.port is not None else _DEFAULT_PORTS[parts.scheme]
    except ValueError:
        raise RefusedTargetError(_("The port must be a number from 0 to 65535.")) from None


def _host(text: str) -> str:
    if ":" in text:
        return _ipv6(text)
    name = text.rstrip(".").lower()
    if name and not name.isascii():
        try:
            name = idna.encode(name, uts46=True).decode().rstrip(".")
        except idna.IDNAError:
            raise RefusedTargetError(_("The host name is not valid.")) from None
    if not _PLAIN_HOST.fullmatch(name):
        raise RefusedTargetError(_("The address has no host."))
    if _NUMBER.fullmatch(name.rpartition(".")[2]):
        _require_plain_ipv4(name)
    return name


def _ipv6(text: str) -> str:
    try:
        address = ipaddress.IPv6Address(text)
    except ValueError:
        raise RefusedTargetError(_("The host is not a valid IPv6 address.")) from None
    if address.scope_id is not None:
        raise RefusedTargetError(_("The host is an address of one network interface."))
    return str(address)


def _require_plain_ipv4(name: str) -> None:
    """Only four decimal numbers are an IPv4 address; what the system also takes for one is refused by its meaning."""
    try:
        ipaddress.IPv4Address(name)
    except ValueError:
        raise RefusedTargetError(_unusual_ipv4(name)) from None


def _unusual_ipv4(name: str) -> str:
    try:
        meaning = socket.inet_ntoa(socket.inet_aton(name))
    except OSError:
        return _("%(name)s is not a valid IPv4 address.", name=name)
    return _("%(name)s is not a valid IPv4 address. It stands for %(meaning)s.", name=name, meaning=meaning)


def _literal(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
