"""The groups of an account: those it made, with their boards, and those that it joined."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

from crowdd.features.accounts.accounts import Accounts
from crowdd.features.groups.groups import GroupForm, Groups
from crowdd.features.groups.rows import BoardMember, GroupRow, MemberRow
from crowdd.features.signin.views import NamedPrivate, own_account
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.html.images import QrCode, shown_code
from crowdd.http.html.tables import as_csv
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import FormError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values
from crowdd.kinds.types import iso

_AT: Final = "/account/<name>/groups"
_ONE: Final = f"{_AT}/<int:group_id>"
_FIELDS: Final = ("name", "size", "last_day")
_SIZE: Final = 30  # what a new group has unless its owner says otherwise


class GroupsPublic(Titled, WithForm, Message):
    """``groups`` the person made, and ``joined``."""

    groups: list[Values]
    joined: list[Values]


class GroupPublic(Titled, WithForm, Message):
    """``link`` is where people join, None while nobody can. ``answers``: of all members."""

    group: Values
    members: list[Values]
    answers: int
    link: str | None


class BoardPublic(Titled):
    """``n_active`` of the ``n_members`` gave ``answers``. ``members`` are named only where the owner wishes it."""

    group: Values
    members: list[Values]
    n_members: int
    n_active: int
    answers: int
    link: str | None


class GroupPrivate(NamedPrivate):
    qr: QrCode | None


class GroupPages:
    """``/account/<name>/groups`` and what is below it, which nobody else sees."""

    def __init__(self, accounts: Accounts, groups: Groups, forms: Forms, base_url: str) -> None:
        self._accounts, self._groups, self._forms = accounts, groups, forms
        self._base_url = base_url.rstrip("/")

    def routes(self) -> Iterator[Route]:
        yield get(_AT, self.list)
        yield post(_AT, self.create)
        yield get(_ONE, self.one)
        yield post(_ONE, self.change)
        yield get(f"{_ONE}/board", self.board)
        yield get(f"{_ONE}/hours.csv", self.hours, page=False)
        yield post(f"{_ONE}/open", self.open)
        yield post(f"{_ONE}/close", self.close)
        yield post(f"{_ONE}/delete", self.delete)
        yield post(f"{_ONE}/leave", self.leave)
        yield post(f"{_ONE}/members/<int:member_id>/remove", self.remove)

    async def list(self, incoming: Incoming, name: str) -> Response:
        """The groups that the person made, and those that they joined."""
        owner = await self._own(incoming, name)
        return await self._list(incoming, owner, self._forms.filled(incoming, name="", size=_SIZE, last_day=""))

    async def create(self, incoming: Incoming, name: str) -> Response:
        """Makes a group from ``name``, ``size`` (the most members) and ``last_day``."""
        owner = await self._own(incoming, name)
        form = GroupForm(incoming.field("name"), incoming.field("size"), incoming.field("last_day"))
        try:
            made = await self._groups.create(incoming.who, form)
        except FormError as error:
            return await self._list(incoming, owner, self._forms.refused(incoming, error.errors, *_FIELDS), MISTAKES)
        return Redirect(_path(owner, made), _("The group has been created."), more={"id": made})

    async def one(self, incoming: Incoming, name: str, group_id: int) -> Response:
        """A group for the person who made it."""
        await self._own(incoming, name)
        row = await self._groups.find(incoming.who, group_id)
        form = self._forms.filled(
            incoming,
            name=row["name"],
            size=row["size"],
            last_day=row["last_day"].isoformat(),
            shows_names=row["shows_names"],
            ranks=row["ranks"],
        )
        return await self._one(incoming, row, form)

    async def change(self, incoming: Incoming, name: str, group_id: int) -> Response:
        """Changes it. What a program leaves out stays."""
        owner = await self._own(incoming, name)
        row = await self._groups.find(incoming.who, group_id)
        form = GroupForm(
            name=incoming.text("name", row["name"]),
            size=incoming.text("size", str(row["size"])),
            last_day=incoming.text("last_day", row["last_day"].isoformat()),
            shows_names=incoming.flag("shows_names", row["shows_names"]),
            ranks=incoming.flag("ranks", row["ranks"]),
        )
        try:
            await self._groups.change(incoming.who, group_id, form)
        except FormError as error:
            refused = self._forms.refused(incoming, error.errors, *_FIELDS, "shows_names", "ranks")
            return await self._one(incoming, row, refused, MISTAKES)
        return Redirect(_path(owner, group_id), _("The group has been changed."))

    async def board(self, incoming: Incoming, name: str, group_id: int) -> Response:
        """What the group did, for a screen that all see. Members stand in the order of names, or of what they gave."""
        owner = await self._own(incoming, name)
        row = await self._groups.find(incoming.who, group_id)
        members = await self._groups.board(incoming.who, group_id)
        named = [one for one in members if one["named"] and row["shows_names"]]
        if not row["ranks"]:
            named.sort(key=lambda one: one["name"].lower())
        link = self._link(row)
        public = BoardPublic(
            title=row["name"],
            group=_group(row),
            members=[{"name": one["name"], "answers": one["answers"], "seconds": one["seconds"]} for one in named],
            n_members=len(members),
            n_active=sum(one["answers"] > 0 for one in members),
            answers=_sum(members),
            link=link,
        )
        return Page("account/group_board.html", public, GroupPrivate(name=owner, qr=shown_code(link) if link else None))

    async def hours(self, incoming: Incoming, name: str, group_id: int) -> Response:
        """For each member answers, and hours at them, as CSV."""
        await self._own(incoming, name)
        row = await self._groups.find(incoming.who, group_id)
        lines = [
            [one["name"], iso(one["joined"]), one["answers"], f"{one['seconds'] / 3600:.2f}"]
            for one in await self._groups.hours(incoming.who, group_id)
        ]
        return as_csv(f"group-{row['id']}-hours", ("name", "joined", "answers", "hours"), lines)

    async def open(self, incoming: Incoming, name: str, group_id: int) -> Response:
        """Lets people join, with a new code."""
        owner = await self._own(incoming, name)
        await self._groups.open(incoming.who, group_id)
        return Redirect(_path(owner, group_id), _("People can join with the new code."))

    async def close(self, incoming: Incoming, name: str, group_id: int) -> Response:
        """Ends the code."""
        owner = await self._own(incoming, name)
        await self._groups.close(incoming.who, group_id)
        return Redirect(_path(owner, group_id), _("Nobody can join now. Members stay."))

    async def delete(self, incoming: Incoming, name: str, group_id: int) -> Response:
        """Deletes a group. The answers of its members stay."""
        owner = await self._own(incoming, name)
        await self._groups.delete(incoming.who, group_id)
        return Redirect(_path(owner), _("The group has been deleted."))

    async def leave(self, incoming: Incoming, name: str, group_id: int) -> Response:
        """Ends the person's own membership."""
        owner = await self._own(incoming, name)
        await self._groups.leave(incoming.who, group_id)
        return Redirect(_path(owner), _("You have left the group."))

    async def remove(self, incoming: Incoming, name: str, group_id: int, member_id: int) -> Response:
        """Takes a member out of a group."""
        owner = await self._own(incoming, name)
        await self._groups.remove(incoming.who, group_id, member_id)
        return Redirect(_path(owner, group_id), _("The member has been removed."))

    async def _own(self, incoming: Incoming, name: str) -> str:
        return (await own_account(self._accounts, incoming, name, admins=False))["name"]

    async def _list(self, incoming: Incoming, owner: str, form: Form, message: Message = NO_MESSAGE) -> Response:
        made = await self._groups.made(incoming.who)
        joined = await self._groups.joined(incoming.who)
        public = GroupsPublic(
            title=_("Your groups"),
            groups=[{**one, "last_day": one["last_day"].isoformat()} for one in made],
            joined=[{**one, "last_day": one["last_day"].isoformat()} for one in joined],
            form=form,
            **message,
        )
        return Page("account/groups.html", public, NamedPrivate(name=owner))

    async def _one(self, incoming: Incoming, row: GroupRow, form: Form, message: Message = NO_MESSAGE) -> Response:
        members = await self._groups.members(incoming.who, row["id"])
        link = self._link(row)
        public = GroupPublic(
            title=row["name"],
            group=_group(row),
            members=[{**one, "joined": iso(one["joined"])} for one in members],
            answers=_sum(members),
            link=link,
            form=form,
            **message,
        )
        private = GroupPrivate(name=incoming.who.user_name, qr=shown_code(link) if link else None)
        return Page("account/group.html", public, private)

    def _link(self, row: GroupRow) -> str | None:
        return f"{self._base_url}/join/{row['code']}" if row["code"] and row["lasts"] else None


def _group(row: GroupRow) -> Values:
    return {**row, "last_day": row["last_day"].isoformat()}


def _sum(members: list[MemberRow] | list[BoardMember]) -> int:
    return sum(one["answers"] for one in members)


def _path(owner: str, group_id: int | None = None) -> str:
    return f"/account/{quote(owner)}/groups{'' if group_id is None else f'/{group_id}'}"
