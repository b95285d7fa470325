"""Every way into an account, declared once: where it is stored, and what ends it.

A new password and a recovery (``access_revocation``) walk over these declarations. A test compares them with the tables
that have a ``user_id``, and with the columns of ``account``: what authenticates by another one has to be declared here.
"""

from __future__ import annotations

import enum
from collections.abc import Awaitable, Callable

import attrs

from crowdd.database.access import Database
from crowdd.features.accounts import session_statements
from crowdd.features.accounts import statements as account_statements
from crowdd.features.accounts.accounts import Accounts
from crowdd.features.accounts.rows import KeepableWay
from crowdd.features.signin import statements
from crowdd.features.signin.providers import TITLES
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester

RESET, ADDRESS = "reset", "address"  # purposes of links in e-mails


class Ends(enum.Enum):
    """What ends a way in. A recovery is a new password by a link in an e-mail, or after somebody else had access."""

    ALWAYS = "every new password"
    RECOVERY = "a recovery"
    UNLESS_KEPT = "a recovery, unless its person keeps it"


End = Callable[[Database, int, Requester], Awaitable[object]]
EndOne = Callable[[Database, int, str], Awaitable[object]]


@attrs.frozen
class WayIn:
    """A way into an account.

    ``stored``: tables with a ``user_id``, and columns of ``account``, that it authenticates by. ``end`` ends all that
    an account has of it; None: setting the password has ended it. ``end_one`` ends the one with this
    ``KeepableWay.key``, which the audit log calls ``act``. ``second``: it is a second factor.
    """

    name: str
    stored: frozenset[str]
    ends: Ends
    end: End | None = None
    end_one: EndOne | None = None
    act: str = ""
    second: bool = False


def ways_in(accounts_: Accounts) -> tuple[WayIn, ...]:
    """All of them. Those that their person may keep have the names of ``KeepableWay.kind``."""
    api_key = frozenset({"account.api_key_hash", "account.api_key_encrypted"})
    provider = frozenset({*(f"account.{name}_user_id" for name in TITLES), "provider_connection", "provider_token"})
    return (
        WayIn("password", frozenset({"account.passwd_hash"}), Ends.ALWAYS),
        WayIn("session", frozenset({"session"}), Ends.ALWAYS, _of_user(session_statements.end_all)),
        WayIn("link", frozenset({"one_time_link"}), Ends.ALWAYS, _end_links),
        WayIn("known_device", frozenset({"account.access_version"}), Ends.ALWAYS),
        WayIn(
            "unconfirmed_authenticator",
            frozenset({"totp"}),
            Ends.ALWAYS,
            _of_user(statements.delete_unconfirmed_totp),
        ),
        WayIn("api_key", api_key, Ends.RECOVERY, accounts_.renew_key),
        WayIn("api_token", frozenset({"api_token"}), Ends.RECOVERY, _of_user(statements.delete_tokens)),
        _keepable("provider", provider, statements.disconnect_provider, "disconnect"),
        _keepable("passkey", frozenset({"passkey"}), _drop_passkey, "passkey_removed", second=True),
        _keepable("authenticator", frozenset({"totp"}), _drop_totp, "totp_removed", second=True),
        _keepable("recovery_codes", frozenset({"recovery_code"}), _drop_codes, "codes_removed", second=True),
    )


def _keepable(name: str, stored: frozenset[str], end_one: EndOne, act: str, *, second: bool = False) -> WayIn:
    return WayIn(name, stored, Ends.UNLESS_KEPT, None, end_one, act, second)


def title(way: KeepableWay) -> str:
    """What people call a way in, without a name that somebody gave to it."""
    titles = {
        "passkey": _("Passkeys"),
        "authenticator": _("Authenticator app"),
        "recovery_codes": _("Recovery codes"),
    }
    return TITLES[way["key"]] if way["kind"] == "provider" else titles[way["kind"]]


async def _end_links(tx: Database, user_id: int, who: Requester) -> None:
    for purpose in (RESET, ADDRESS):
        await account_statements.delete_links_of_user(tx, user_id, purpose)


def _of_user(end: Callable[[Database, int], Awaitable[object]]) -> End:
    return lambda tx, user_id, who: end(tx, user_id)


async def _drop_passkey(tx: Database, user_id: int, key: str) -> None:
    await statements.delete_passkey(tx, user_id, int(key))


async def _drop_totp(tx: Database, user_id: int, key: str) -> None:
    await statements.delete_totp(tx, user_id)


async def _drop_codes(tx: Database, user_id: int, key: str) -> None:
    await statements.delete_recovery_codes(tx, user_id)
