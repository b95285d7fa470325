"""The deposit of a snapshot in a repository, for owners."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

from crowdd.domain.projects.projects import Projects
from crowdd.domain.transfer.deposits.deposits import Deposits
from crowdd.domain.transfer.deposits.repository import PUBLIC
from crowdd.domain.transfer.snapshots.snapshots import Snapshots
from crowdd.domain.transfer.snapshots.views import view
from crowdd.errors import ConflictError, InvalidValueError, TooManyRequestsError
from crowdd.http.auth.csrf import Csrf
from crowdd.http.html.row_lists import outward_rows
from crowdd.http.pages.project.views import ProjectPublic, ProjectViews
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.languages import _
from crowdd.storage.projects.rows import ProjectPage
from crowdd.storage.transfer.snapshot_rows import SnapshotRow
from crowdd.values import Values

_AT: Final = "/project/<short_name>/snapshots/<hash_>/deposit"


class DepositPublic(ProjectPublic):
    """``deposit`` is null while there is none. ``repository``: the address that the form begins with."""

    snapshot: Values
    deposit: Values | None
    repository: str
    csrf: str


class DepositPages:
    """``/project/<short_name>/snapshots/<hash>/deposit``."""

    def __init__(
        self, projects: Projects, snapshots: Snapshots, deposits: Deposits, csrf: Csrf, views: ProjectViews
    ) -> None:
        self._projects, self._snapshots, self._deposits = projects, snapshots, deposits
        self._csrf, self._views = csrf, views

    def routes(self) -> Iterator[Route]:
        yield get(_AT, self.page)
        yield post(_AT, self.add)
        yield post(f"{_AT}/continue", self.go_on)
        yield post(f"{_AT}/delete", self.delete)

    async def page(self, incoming: Incoming, short_name: str, hash_: str) -> Response:
        """The deposit of a snapshot, or the form that begins one."""
        row, snapshot = await self._found(incoming, short_name, hash_)
        deposit = await self._deposits.find(incoming.who, row["id"], snapshot["id"])
        context = await self._views.context(incoming, row, _("Deposit in a repository"))
        address = f"{self._views.address(row)}snapshots"
        public = DepositPublic(
            **context.public,
            snapshot=outward_rows([view(snapshot, address, owns=True)])[0],
            deposit=None if deposit is None else outward_rows([deposit])[0],
            repository=PUBLIC,
            csrf=self._csrf.token(incoming),
        )
        return Page("project/deposit.html", public, context.private)

    async def add(self, incoming: Incoming, short_name: str, hash_: str) -> Response:
        """Deposits the snapshot at the site ``url`` with the access token ``token``; ``publish`` = y publishes it."""
        row, snapshot = await self._found(incoming, short_name, hash_)
        url, token = (incoming.field(name) for name in ("url", "token"))
        publish = incoming.flag("publish", False)
        try:
            await self._deposits.add(incoming.who, row["id"], snapshot["id"], url, token, publish=publish)
        except (ConflictError, InvalidValueError, TooManyRequestsError) as error:
            return Redirect(_here(short_name, hash_), error.args[0], "error")
        words = _("The files are being sent. This continues when you close this page.")
        return Redirect(_here(short_name, hash_), words)

    async def go_on(self, incoming: Incoming, short_name: str, hash_: str) -> Response:
        """Tries again; with ``publish`` = 1 publishes the deposit."""
        row, snapshot = await self._found(incoming, short_name, hash_)
        publish = incoming.flag("publish", False)
        try:
            await self._deposits.go_on(incoming.who, row["id"], snapshot["id"], publish=publish)
        except (ConflictError, TooManyRequestsError) as error:
            return Redirect(_here(short_name, hash_), error.args[0], "error")
        words = _("The deposit is being published.") if publish else _("The files are being sent again.")
        return Redirect(_here(short_name, hash_), words)

    async def delete(self, incoming: Incoming, short_name: str, hash_: str) -> Response:
        """Forgets the deposit and its token."""
        row, snapshot = await self._found(incoming, short_name, hash_)
        await self._deposits.delete(incoming.who, row["id"], snapshot["id"])
        words = _("The deposit is removed here. What the repository has stays there.")
        return Redirect(_here(short_name, hash_), words)

    async def _found(self, incoming: Incoming, short_name: str, hash_: str) -> tuple[ProjectPage, SnapshotRow]:
        row = await self._projects.owned(short_name, incoming.who)
        return row, await self._snapshots.get(incoming.who, row, hash_)


def _here(short_name: str, hash_: str) -> str:
    return f"/project/{quote(short_name)}/snapshots/{quote(hash_)}/deposit"
