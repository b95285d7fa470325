"""What runs behind the pages: jobs, long work in the queue, mail, webhooks."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from crowdd.domain.server.services import Services
from crowdd.errors import ConflictError, InvalidValueError
from crowdd.http.html.forms import Forms
from crowdd.http.pages.admin.access import admins_only
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.kinds.kind import outward
from crowdd.languages import _
from crowdd.storage.server.rows import JobState

_LATE_SECONDS = 60
_QUEUE, _MAIL = "/admin/queue", "/admin/mail"
_SHOWN = 50
_STATES = ("waiting", "running", "done", "dead", "cancelled")
_MAIL_STATES = ("waiting", "held", "sent", "dead")


class AdminOperation:
    """``/admin/jobs`` and ``/admin/webhooks``: how each is doing."""

    def __init__(self, services: Services) -> None:
        self._administration, self._webhooks = services.administration, services.webhooks

    def routes(self) -> Iterator[Route]:
        yield get("/admin/jobs", admins_only(self.jobs))
        yield get("/admin/webhooks", admins_only(self.webhooks))

    async def jobs(self, incoming: Incoming) -> Response:
        """Every job with its last run; ``state`` is running, failed, late (by a minute or more), done or new."""
        rows = await self._administration.jobs(incoming.who)
        jobs = [{name: outward(value) for name, value in row.items()} | {"state": _state(row)} for row in rows]
        return Page("admin/jobs.html", title=_("Jobs"), jobs=jobs)

    async def webhooks(self, incoming: Incoming) -> Response:
        """Every project with an address, those in trouble first."""
        return Page("admin/webhooks.html", title=_("Webhooks"), webhooks=await self._webhooks.all_states())


def _state(row: JobState) -> str:
    if row["outcome"] in ("running", "failed"):
        return str(row["outcome"])
    return "late" if row["overdue"] >= _LATE_SECONDS else str(row["outcome"])


class AdminMail:
    """``/admin/mail``: the last letters without their texts, and those that did not go once more."""

    def __init__(self, services: Services, forms: Forms) -> None:
        self._administration, self._mail, self._forms = services.administration, services.mail, forms

    def routes(self) -> Iterator[Route]:
        yield get(_MAIL, admins_only(self.letters))
        yield post(f"{_MAIL}/<int:mail_id>/again", admins_only(self.again))

    async def letters(self, incoming: Incoming) -> Response:
        state = incoming.query.get("state") or None
        if state is not None and state not in _MAIL_STATES:
            raise InvalidValueError(_("Unknown state."))
        rows = await self._mail.list(_SHOWN, state)
        return Page(
            "admin/mail.html",
            title=_("Mail"),
            letters=[{name: outward(value) for name, value in attrs.asdict(row).items()} for row in rows],
            states=list(_MAIL_STATES),
            chosen={"state": state},
            form=self._forms.blank(incoming),
        )

    async def again(self, incoming: Incoming, mail_id: int) -> Response:
        try:
            await self._mail.again(mail_id)
        except ConflictError as error:
            return Redirect(_MAIL, error.args[0], "error")
        await self._administration.note("send_again", "mail", mail_id, incoming.who)
        return Redirect(_MAIL, _("The message will be sent again."))


class AdminQueue:
    """``/admin/queue``: everybody's work, which administrators may cancel and begin again."""

    def __init__(self, services: Services, forms: Forms) -> None:
        self._administration, self._queue, self._forms = services.administration, services.queue, forms

    def routes(self) -> Iterator[Route]:
        yield get(_QUEUE, admins_only(self.items))
        yield post(f"{_QUEUE}/<int:item_id>/cancel", admins_only(self.cancel))
        yield post(f"{_QUEUE}/<int:item_id>/retry", admins_only(self.retry))

    async def items(self, incoming: Incoming) -> Response:
        """The newest, or those before one; ``state`` chooses."""
        state, before = incoming.query.get("state") or None, incoming.query.get("before") or None
        if state is not None and state not in _STATES:
            raise InvalidValueError(_("Unknown state."))
        if before is not None and not (before.isascii() and before.isdigit() and len(before) < 19):
            raise InvalidValueError(_("before is the number of an entry."))
        chosen = {"state": state, "before": before and int(before), "limit": _SHOWN}
        rows = await self._queue.list(incoming.who, everybodys=True, **chosen)
        return Page(
            "admin/queue.html",
            title=_("Queue"),
            items=[{name: outward(value) for name, value in row.items()} for row in rows],
            states=list(_STATES),
            chosen={"state": state},
            next=rows[-1]["id"] if len(rows) == _SHOWN else None,
            form=self._forms.blank(incoming),
        )

    async def cancel(self, incoming: Incoming, item_id: int) -> Response:
        try:
            await self._queue.cancel(incoming.who, item_id)
        except ConflictError as error:
            return Redirect(_QUEUE, error.args[0], "error")
        await self._administration.note("cancel", "queue", item_id, incoming.who)
        return Redirect(_QUEUE, _("The background task will stop at its next step."))

    async def retry(self, incoming: Incoming, item_id: int) -> Response:
        try:
            await self._queue.retry(incoming.who, item_id)
        except ConflictError as error:
            return Redirect(_QUEUE, error.args[0], "error")
        await self._administration.note("retry", "queue", item_id, incoming.who)
        return Redirect(_QUEUE, _("The background task will start again."))
