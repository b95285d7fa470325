"""The servers that a DSN names: ``host=a,b,c target_session_attrs=read-write`` leads to the one that is the primary.

In asynchronous mode libpq goes from one to the next only when the first refuses. Where a machine is gone without a word it waits
for minutes, so each host is an attempt of ours, with a time of its own.
"""

from __future__ import annotations

import attrs
import psycopg2
from psycopg2.extensions import make_dsn, parse_dsn

from crowdd.errors import ConfigError

# A machine that is gone without a word: a session with it ends after 11 seconds, and what runs on it fails. Without these libpq
# waits for a quarter of an hour or two hours. No effect on a server that only takes long.
_NOTICING = {
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "11000",
}
_HOST_SECONDS = 2.0  # for each of several
_LISTS = ("host", "hostaddr", "port")
_PRIMARY = ("read-write", "primary")


@attrs.define
class Hosts:
    """``dsns``: one for each server. ``writable``: only one that takes changes is wanted."""

    dsns: tuple[str, ...]
    writable: bool
    _first: int = 0

    @classmethod
    def of(cls, dsn: str) -> Hosts:
        """Those of a DSN. One that libpq cannot read is left to it: connecting says what is wrong."""
        noticing = noticing_silence(dsn)
        try:
            words = parse_dsn(noticing)
        except psycopg2.Error:
            return cls((dsn,), writable=False)
        each, writable = _each(words), words.get("target_session_attrs") in _PRIMARY
        dsns = (noticing,) if len(each) == 1 else tuple(str(make_dsn(**{**words, **host})) for host in each)
        return cls(dsns, writable)

    def in_turn(self) -> tuple[str, ...]:
        """All of them, first the one that was found last."""
        return self.dsns[self._first :] + self.dsns[: self._first]

    def found(self, dsn: str) -> None:
        """It took a connection."""
        self._first = self.dsns.index(dsn)

    def seconds(self, whole: float) -> float:
        """How long to try one of them, where an attempt at a single one may take ``whole``."""
        return whole if len(self.dsns) == 1 else min(whole, _HOST_SECONDS)


def noticing_silence(dsn: str) -> str:
    """The DSN, with how soon a silent network counts as cut, unless it says so itself or names a socket of this machine.

    A DSN that libpq does not understand is returned as it is.
    """
    try:
        words = parse_dsn(dsn)
    except psycopg2.Error:
        return dsn
    hosts = [*filter(None, words.get("host", "").split(","))]
    if not words or (hosts and all(host.startswith(("/", "@")) for host in hosts) and "hostaddr" not in words):
        return dsn
    return str(make_dsn(dsn, **{name: value for name, value in _NOTICING.items() if name not in words}))


def require_primary(dsn: str) -> None:
    """Raises ConfigError for several servers of which any would do: a standby takes no answers."""
    hosts = Hosts.of(dsn)
    if len(hosts.dsns) > 1 and not hosts.writable:
        raise ConfigError(
            "[db] dsn names several hosts. Add target_session_attrs=read-write to it, so that the primary is found."
        )


def _each(words: dict[str, str]) -> list[dict[str, str]]:
    """Host, address and port of each server; as they are where their numbers differ, which libpq refuses."""
    lists = {name: words[name].split(",") for name in _LISTS if name in words}
    number = max((len(each) for each in lists.values()), default=1)
    if any(len(each) not in (number, *([1] if name == "port" else [])) for name, each in lists.items()):
        return [{}]
    return [{name: each[n % len(each)] for name, each in lists.items()} for n in range(number)]
