"""Who asks: the requester of a request, and the network that it comes from."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import pwd
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import attrs

GUEST = "g."
"""How the names of volunteer cookies begin that belong to guests of groups; no other name has a full stop."""
_LOOPBACK = ipaddress.ip_address("127.0.0.1")


@lru_cache(maxsize=10_000)
def network(address: str) -> str:
    """One place on the Internet: an IPv4 address itself, or the first address of the /64 that an IPv6 address lies in.

    An IPv4 address written as IPv6 (``::ffff:192.0.2.1``) is the IPv4 address. What is not an address counts as
    loopback: a client on a Unix socket.
    """
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        parsed = _LOOPBACK
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(parsed) >> 64 << 64, 64)).network_address)


@attrs.frozen
class Requester:
    """Who asks, decided once per request (``features.signin.identity``) and never again.

    At most one of the identities counts: an explicit external user, else the signed-in
    user, else the browser's volunteer cookie, else the network.
    """

    user_id: int | None = None
    user_name: str = ""
    fullname: str = ""
    admin: bool = False
    locale: str = "en"
    volunteer: str = ""  # id of the browser's signed volunteer cookie; it may be signed in, too
    network: str = ""  # pseudonym of the network that the request comes from, never the address
    agent: str = ""  # what the browser or program calls itself, cut
    external_uid: str | None = None
    sender: int | None = None  # the account whose session sends what an external user does
    unlocked: tuple[str, ...] = ()  # lock ids of projects whose password the requester gave, and keys of drafts
    presenter: int | None = None  # project whose presenter asks through the bridge: only a volunteer of that project
    via: str = "web"  # api, web, cli or job: for the audit log
    access_version: int = 0  # of the account when the session, key or token was looked up
    session: bytes = b""  # token hash of the session in use
    proved: bool = False  # the session's person gave the password or a second factor lately
    admin_stale: bool = False  # its use below /admin is to be noted again
    admin_fresh: bool = False  # the session may go on below /admin without another proof
    second_factor: bool = False  # the session's account has one
    by_key: bool = False  # known by the account's one API key
    manages_projects: bool = False  # the site lets this key or token give projects away
    scope: str = ""  # of the API token in use: read, answer, predict, project or everything; "" without a token
    only_project: int | None = None  # the one project that the token may write

    @property
    def signed_in(self) -> bool:
        """Known by session or key."""
        return self.user_id is not None

    @property
    def guest(self) -> bool:
        """Whether they answer as a member of a group who has no account."""
        return self.volunteer.startswith(GUEST) and self.user_id is None and self.external_uid is None

    @property
    def acting_user(self) -> int | None:
        """The account whose rights count; none while a presenter asks in its volunteer's name."""
        return None if self.presenter is not None else self.user_id

    @property
    def acting_admin(self) -> bool:
        """Whether the rights of an administrator count."""
        return self.admin and self.presenter is None and self.only_project is None

    @property
    def sees_own_key(self) -> bool:
        """Whether the account's API key is shown to its person: after a proof, or to the key itself."""
        return self.presenter is None and (self.proved or self.by_key)

    @property
    def sees_secrets(self) -> bool:
        """Whether secrets of projects are shown to their owners: a token that may not write learns none."""
        return self.scope not in ("read", "answer", "predict")

    @property
    def actor(self) -> str:
        """The one key of a volunteer: account, external user, browser or network."""
        if self.external_uid is not None:
            return f"x:{self.external_uid}"
        if self.user_id is not None:
            return f"u:{self.user_id}"
        return f"c:{self.volunteer}" if self.volunteer else f"i:{self.network}"

    @property
    def also(self) -> str | None:
        """Another actor that the browser proves by its session or its volunteer cookie: the same person.

        None for programs with a key or a token: they may send what many people do.
        """
        if self.sender is not None:
            return f"u:{self.sender}"
        known = self.external_uid is not None or self.user_id is not None
        return f"c:{self.volunteer}" if known and self.volunteer else None

    def role_values(self) -> dict[str, object]:
        """What the SQL of roles needs to know."""
        return {
            "me": self.acting_user,
            "is_admin": self.acting_admin,
            "unlocked": list(self.unlocked),
            "visitor": self.user_id if self.only_project is None else None,
            "visits_all": self.admin and self.only_project is None,
            "only_project": self.only_project,
            "sees_own_key": self.sees_own_key,
            "access_version": self.access_version,
            "sees_all_keys": self.acting_admin and self.proved,
            "sees_secrets": self.sees_secrets,
        }

    def entry_values(self) -> dict[str, object]:
        """What decides whether somebody is handed tasks: owners try their own project as its presenter's volunteers."""
        return {"me": self.user_id, "is_admin": self.admin, "unlocked": list(self.unlocked)}


def unix_user(login_id: str, environ: Mapping[str, str], effective: int) -> str:
    """The user of this machine behind a program: who signed in to it, whom sudo names, or else whom it runs as.

    ``login_id`` is what the kernel keeps through su and runuser; 4294967295 stands for nobody.
    """
    with contextlib.suppress(ValueError, KeyError, OverflowError):
        return pwd.getpwuid(int(login_id)).pw_name
    if name := environ.get("SUDO_USER"):
        return name
    try:
        return pwd.getpwuid(effective).pw_name
    except KeyError:
        return str(effective)


def _login_id() -> str:
    try:
        return Path("/proc/self/loginuid").read_text()
    except OSError:
        return ""


SYSTEM = Requester(user_name=f"crowdctl ({unix_user(_login_id(), os.environ, os.geteuid())})", admin=True, via="cli")


def draft_key(word: str) -> str:
    """The key of a draft as it is stored, for the word that stands in its link; "" for what is no such word."""
    return f"try-{word}" if re.fullmatch(r"[0-9a-f]{32}", word) else ""
