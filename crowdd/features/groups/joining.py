"""How people join a group: by its code, with their account or as guests."""

from __future__ import annotations

import hmac
import secrets as random
from typing import Final

import attrs

from crowdd.core.quotas import HOUR_MINUTES, Attempts, Limit
from crowdd.core.secrets import Secrets
from crowdd.database.access import Database, Transactions
from crowdd.features.groups import statements
from crowdd.features.groups.groups import checked_name
from crowdd.features.groups.rows import KnownGuest, Membership, OpenGroup
from crowdd.features.groups.statements import NewMember
from crowdd.features.signin import same_person_statements
from crowdd.kernel.errors import NOT_FOUND, ConflictError, FormError, NotFoundError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import GUEST, Requester

MAX_NAME: Final = 20
CODES_PER_HOUR: Final = 60
"""Wrong codes that a network may try: a class mistypes some. There are 64 million."""
_NUMBERS_PER_HOUR: Final = 20
_JOINS_PER_HOUR: Final = 300  # of a network: some classes
_DIGITS: Final = 6


@attrs.frozen
class Joined:
    """Who joined. Of a guest: the name of the volunteer cookie, and the new number; "" where they keep theirs."""

    volunteer: str = ""
    number: str = ""


class Joining:
    """Lets people into groups."""

    def __init__(self, db: Transactions, attempts: Attempts, secrets: Secrets) -> None:
        self._db, self._attempts, self._secrets = db, attempts, secrets

    async def find(self, who: Requester, code: str) -> OpenGroup:
        """The group of a code. Raises FormError for a wrong one, TooManyRequestsError after many of them."""
        limit = Limit(f"group_code:{who.network}", CODES_PER_HOUR, HOUR_MINUTES)
        await self._attempts.count(limit)
        group = await statements.find_open_group(self._db, _plain(code))
        if group is None:
            raise _wrong_code()
        await self._attempts.refund(limit)
        return group

    async def join(self, who: Requester, code: str, name: str, number: str) -> Joined:
        """Makes the requester a member of the group with this code: their account, or a guest with this name.

        A guest who was here before gives their ``number`` and goes on as who they are, on any device. Raises FormError,
        TooManyRequestsError.
        """
        group = await self.find(who, code)
        await self._attempts.count(Limit(f"group_join:{who.network}", _JOINS_PER_HOUR, HOUR_MINUTES))
        user_id = who.acting_user
        if user_id is not None:
            member = NewMember(_named(name or who.user_name), f"u:{user_id}", user_id, None)
            await self._add(code, member)
            return Joined()
        name = _named(name)
        guest = await statements.find_guest(self._db, group["id"], name)
        if guest is not None:
            return await self._known(guest, number)
        volunteer, number = f"{GUEST}{random.token_urlsafe(12)}", _new_number()
        await self._add(code, NewMember(name, f"c:{volunteer}", None, self._hash(volunteer, number)))
        if who.volunteer and not who.guest:
            # What this browser has answered before, they have: of two answers to a task one counts.
            await same_person_statements.link(self._db, f"c:{volunteer}", f"c:{who.volunteer}")
        return Joined(volunteer, number)

    async def membership(self, who: Requester) -> Membership:
        """The group of a guest. Raises NotFoundError."""
        row = await statements.find_membership(self._db, who.actor) if who.guest else None
        if row is None:
            raise NotFoundError(_("You are in no group on this device."))
        return row

    async def renew_number(self, who: Requester) -> str:
        """Another number for a guest; the one before is worth nothing. Raises NotFoundError."""
        number = _new_number()
        if not who.guest or not await statements.set_number(self._db, who.actor, self._hash(who.volunteer, number)):
            raise NotFoundError(NOT_FOUND)
        return number

    async def choose_board(self, who: Requester, *, on_board: bool) -> None:
        """Whether the board of their group names a guest. Raises NotFoundError."""
        if not who.guest or not await statements.set_on_board(self._db, who.actor, on_board):
            raise NotFoundError(NOT_FOUND)

    async def _known(self, guest: KnownGuest, number: str) -> Joined:
        volunteer = guest["actor"].partition(":")[2]
        digits = "".join(each for each in number if each.isdigit())
        if not digits:
            raise FormError({"name": [_("Somebody in the group has this name. Choose another one.")]})
        limit = Limit(f"group_number:{volunteer}", _NUMBERS_PER_HOUR, HOUR_MINUTES)
        await self._attempts.count(limit)
        if not hmac.compare_digest(bytes(guest["number_hash"]), self._hash(volunteer, digits)):
            raise FormError({"number": [_("The number does not belong to this name.")]})
        await self._attempts.refund(limit)
        return Joined(volunteer)

    async def _add(self, code: str, member: NewMember) -> None:
        async def work(tx: Database) -> None:
            group = await statements.find_open_group(tx, _plain(code), lock=True)
            if group is None:
                raise _wrong_code()
            if not await statements.insert_member(tx, group, member):
                raise FormError({"code": [_("The group is full. Its owner can make it larger.")]})

        try:
            await self._db.transaction(work)
        except ConflictError:
            raise FormError({"name": [_("Somebody in the group has this name. Choose another one.")]}) from None

    def _hash(self, volunteer: str, number: str) -> bytes:
        return self._secrets.digest("group_number", f"{volunteer} {number}")


def _named(text: str) -> str:
    """The name of a member: one word, so that it is no full name, and no e-mail address. Raises FormError."""
    name, words = checked_name(text, MAX_NAME)
    if not words and (" " in name or "@" in name):
        words = _("Use one word, without spaces and @. It should not be your full name.")
    if words:
        raise FormError({"name": [words]})
    return name


def _plain(code: str) -> str:
    return "".join(each for each in code.upper() if each.isalpha())


def _new_number() -> str:
    return f"{random.randbelow(10**_DIGITS):0{_DIGITS}}"


def _wrong_code() -> FormError:
    return FormError({"code": [_("No group has this code now. Compare it with what your teacher or host shows.")]})
