"""Groups of people who answer together, such as a class: for the account that made them."""

from __future__ import annotations

import secrets as random
from datetime import date, datetime, timedelta
from typing import Final

import attrs

from crowdd.database import access
from crowdd.database.access import Database, Transactions
from crowdd.features.groups import statements
from crowdd.features.groups.rows import BoardMember, GroupRow, JoinedGroup, ListedGroup, MemberHours, MemberRow
from crowdd.kernel.errors import NOT_FOUND, AnonymousError, FormError, InvalidValueError, NotFoundError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import parse_number
from crowdd.kinds.names import UnusableNameError
from crowdd.kinds.types import Name

MAX_GROUPS: Final = 20
MAX_SIZE: Final = 200
MAX_NAME: Final = 100
MAX_DAYS: Final = 400
CODE_LENGTH: Final = 6
_LETTERS: Final = "BCDFGHJKLMNPQRSTVWXZ"  # no vowels, so that no code is a word
_MAX_ID: Final = 2**63 - 1
_MAX_JOINED: Final = 100
_TRIES: Final = 5


@attrs.frozen
class GroupForm:
    """What the owner of a group says of it, as it was sent: ``last_day`` as 2027-01-31."""

    name: str
    size: str
    last_day: str
    shows_names: bool = False
    ranks: bool = False


class Groups:
    """The groups of the requester, who has an account.

    All raise AnonymousError for others, and NotFoundError for groups that they did not make.
    """

    def __init__(self, db: Transactions) -> None:
        self._db = db

    async def made(self, who: Requester) -> list[ListedGroup]:
        """The groups that they made."""
        return await statements.list_groups(self._db, require_user(who))

    async def joined(self, who: Requester) -> list[JoinedGroup]:
        """The newest groups that they are a member of."""
        return await statements.list_joined(self._db, require_user(who), _MAX_JOINED)

    async def create(self, who: Requester, form: GroupForm) -> int:
        """The id of a new group, which people can join. Raises FormError."""
        user_id, values = require_user(who), await self._checked(form)

        async def work(tx: Database) -> int | None:
            await statements.lock_groups(tx, user_id)
            if len(await statements.list_groups(tx, user_id)) >= MAX_GROUPS:
                words = _("You have %(maximum)s groups. Delete one first.", maximum=MAX_GROUPS)
                raise FormError({"name": [words]})
            return await statements.insert_group(tx, user_id, {**values, "code": _new_code()})

        for _try in range(_TRIES):
            made = await self._db.transaction(work)
            if made is not None:
                return made
        raise FormError({"name": [_("No code is free. Try again.")]})

    async def find(self, who: Requester, group_id: int) -> GroupRow:
        """A group that they made."""
        row = await statements.find_group(self._db, require_user(who), min(group_id, _MAX_ID))
        if row is None:
            raise NotFoundError(NOT_FOUND)
        return row

    async def members(self, who: Requester, group_id: int) -> list[MemberRow]:
        """Its members, in the order in which they joined."""
        return await statements.list_members(self._db, require_user(who), min(group_id, _MAX_ID))

    async def board(self, who: Requester, group_id: int) -> list[BoardMember]:
        """Its members with what their answers are worth, the most first."""
        return await statements.list_board(self._db, require_user(who), min(group_id, _MAX_ID))

    async def hours(self, who: Requester, group_id: int) -> list[MemberHours]:
        """Its members with their time."""
        return await statements.list_hours(self._db, require_user(who), min(group_id, _MAX_ID))

    async def change(self, who: Requester, group_id: int, form: GroupForm) -> None:
        """Changes it. Raises FormError, also for a size that its members would not fit in."""
        values = {**await self._checked(form), "shows_names": form.shows_names, "ranks": form.ranks}
        if not await statements.update_group(self._db, require_user(who), min(group_id, _MAX_ID), values):
            await self.find(who, group_id)
            raise FormError({"size": [_("The group has more members. Remove some of them first.")]})

    async def open(self, who: Requester, group_id: int) -> None:
        """Lets people join it, with a new code: the one before is worth nothing at once."""
        for _try in range(_TRIES):
            if await statements.set_code(self._db, require_user(who), min(group_id, _MAX_ID), _new_code()):
                return
            await self.find(who, group_id)

    async def close(self, who: Requester, group_id: int) -> None:
        """Ends its code. Members stay."""
        _require(await statements.set_code(self._db, require_user(who), min(group_id, _MAX_ID), None))

    async def delete(self, who: Requester, group_id: int) -> None:
        """Deletes it with the names of its members. Their answers stay."""
        _require(await statements.delete_group(self._db, require_user(who), min(group_id, _MAX_ID)))

    async def remove(self, who: Requester, group_id: int, member_id: int) -> None:
        """Takes a member out of it."""
        ids = min(group_id, _MAX_ID), min(member_id, _MAX_ID)
        _require(await statements.remove_member(self._db, require_user(who), *ids))

    async def leave(self, who: Requester, group_id: int) -> None:
        """Ends their own membership in a group."""
        _require(await statements.leave(self._db, min(group_id, _MAX_ID), require_user(who)))

    async def _checked(self, form: GroupForm) -> dict[str, object]:
        """The values of a form. Raises FormError with all its mistakes."""
        today = (await access.now(self._db)).date()
        mistakes = dict[str, list[str]]()
        name, words = checked_name(form.name, MAX_NAME)
        if words:
            mistakes["name"] = [words]
        size = parse_number(form.size) or 0
        if not 1 <= size <= MAX_SIZE:
            mistakes["size"] = [_("Enter a whole number from 1 to %(maximum)s.", maximum=MAX_SIZE)]
        last_day = parse_day(form.last_day)
        if last_day is None or not today <= last_day <= today + timedelta(days=MAX_DAYS):
            mistakes["last_day"] = [_("Choose a day within the next %(maximum)s days.", maximum=MAX_DAYS)]
        if mistakes:
            raise FormError(mistakes)
        return {"name": name, "size": size, "last_day": last_day}


def checked_name(text: str, maximum: int) -> tuple[str, str]:
    """A name as it is stored, and what is wrong with it, "" where nothing is."""
    try:
        return Name(maximum=maximum).parse(text), ""
    except UnusableNameError as error:
        return text, error.sentence
    except InvalidValueError:
        return text, _("Use 1 to %(maximum)s characters.", maximum=maximum)


def require_user(who: Requester) -> int:
    """The account of the requester. Raises AnonymousError."""
    if who.acting_user is None:
        raise AnonymousError(_("Sign in first."))
    return who.acting_user


def _new_code() -> str:
    return "".join(random.choice(_LETTERS) for _letter in range(CODE_LENGTH))


def parse_day(text: str) -> date | None:
    """A day as browsers send it, such as 2027-01-31; None for anything else."""
    try:
        return datetime.strptime(text.strip(), "%Y-%m-%d").date()
    except ValueError:
        return None


def _require(done: bool) -> None:
    if not done:
        raise NotFoundError(NOT_FOUND)
