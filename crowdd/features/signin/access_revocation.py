"""What ends of the ways into an account (``ways_in``) with a new password, and when its person takes it back."""

from __future__ import annotations

import enum
from collections.abc import Collection

import attrs

from crowdd.core import log_statements
from crowdd.core.devices import Authenticated
from crowdd.core.security_log import FACTOR_REMOVED, SecurityLog
from crowdd.database.access import Database
from crowdd.features.accounts.accounts import Accounts
from crowdd.features.accounts.rows import KeepableWay
from crowdd.features.signin import statements
from crowdd.features.signin.ways_in import Ends, WayIn, title, ways_in
from crowdd.kernel.languages import with_commas
from crowdd.kernel.requester import Requester


@attrs.frozen
class NewPassword:
    """An account with a new password. ``recovered``: its API key was replaced, and its tokens ended.

    ``ended``: what else nobody signs in with any more, in words.
    """

    account: Authenticated
    recovered: bool = False
    ended: str = ""


class Fate(enum.Enum):
    """What a recovery does to a way into an account."""

    ENDS = "It may belong to an earlier holder of the account."
    ASKED = "Its person says whether it is theirs."
    STAYS = "The site demands it of its person."


def fate(way: KeepableWay, *, second: bool, demanded: bool) -> Fate:
    """What a recovery does to it.

    What was set up before the e-mail address was proved ends. ``second``: it is a second factor; ``demanded``: the site
    demands one of this account, so that an e-mail alone must not be enough.
    """
    if not way["address_proved"]:
        return Fate.ENDS
    return Fate.STAYS if second and demanded else Fate.ASKED


@attrs.frozen
class Way:
    """A way into an account that its person may keep; ``id`` names it in a form."""

    row: KeepableWay
    declared: WayIn

    @property
    def id(self) -> str:
        """A word such as passkey-3."""
        return "-".join(word for word in (self.row["kind"], self.row["key"]) if word)

    @property
    def title(self) -> str:
        """What people call it."""
        return title(self.row)

    def fate(self, *, demanded: bool) -> Fate:
        """What a recovery does to it."""
        return fate(self.row, second=self.declared.second, demanded=demanded)


class Revoking:
    """Ends ways in, within the transaction that sets a new password. The account's row has to be locked already.

    ``demanded``: the site demands a second factor of the account.
    """

    def __init__(self, accounts_: Accounts, security_log: SecurityLog) -> None:
        self._ways, self._security_log = ways_in(accounts_), security_log
        self._by_name = {way.name: way for way in self._ways}

    async def choices(self, db: Database, user_id: int, *, demanded: bool = False) -> list[Way]:
        """The ways in that a person who takes the account back is asked about, the oldest first."""
        ways = await self._keepable(db, user_id)
        return [way for way in ways if way.fate(demanded=demanded) is Fate.ASKED]

    async def after_change(self, tx: Database, account: Authenticated, who: Requester) -> NewPassword:
        """Ends what every new password ends: sessions, and links in e-mails that are on their way."""
        await self._end(tx, account.user_id, who, Ends.ALWAYS)
        return NewPassword(account)

    async def recover(
        self, tx: Database, account: Authenticated, who: Requester, keep: Collection[str], *, demanded: bool = False
    ) -> NewPassword:
        """The same when the person takes the account back: the other ways in end, too.

        ``keep``: the ids of ``choices`` that they confirmed to be theirs.
        """
        user_id, ended = account.user_id, []
        await self._end(tx, user_id, who, Ends.ALWAYS, Ends.RECOVERY)
        for way in await self._keepable(tx, user_id):
            fate = way.fate(demanded=demanded)
            if fate is Fate.ENDS or (fate is Fate.ASKED and way.id not in keep):
                await self._end_one(tx, user_id, way, who)
                ended.append(way.title)
        await statements.refresh_second_factor(tx, user_id)
        return NewPassword(account, True, with_commas(*dict.fromkeys(ended)))

    async def _keepable(self, db: Database, user_id: int) -> list[Way]:
        return [Way(row, self._by_name[row["kind"]]) for row in await statements.list_keepable_ways(db, user_id)]

    async def _end(self, tx: Database, user_id: int, who: Requester, *occasions: Ends) -> None:
        for way in self._ways:
            if way.ends in occasions and way.end is not None:
                await way.end(tx, user_id, who)

    async def _end_one(self, tx: Database, user_id: int, way: Way, who: Requester) -> None:
        assert way.declared.end_one is not None
        await way.declared.end_one(tx, user_id, way.row["key"])
        await log_statements.write_act(tx, who, way.declared.act, "user", user_id, attribute=way.row["key"] or None)
        if way.declared.second:
            await self._security_log.note(tx, FACTOR_REMOVED, who, user_id=user_id, detail=way.declared.act)
