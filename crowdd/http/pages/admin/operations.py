"""Periodic jobs, background tasks, e-mail and webhooks, as administrators see them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict

import attrs

from crowdd.domain.core.background_queue import Queue
from crowdd.domain.mail.mail import Mail
from crowdd.domain.server.administration import Administration
from crowdd.domain.webhooks.webhooks import Webhooks
from crowdd.errors import ConflictError, InvalidValueError
from crowdd.http.html.forms import Forms, WithForm
from crowdd.http.pages.admin.access import admins_only
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.kinds.kind import outward
from crowdd.languages import _
from crowdd.storage.server.rows import JobState
from crowdd.values import Values

_LATE_SECONDS = 60
_QUEUE, _MAIL = "/admin/queue", "/admin/mail"
_SHOWN = 50
_STATES = ("waiting", "running", "done", "dead", "cancelled")
_MAIL_STATES = ("waiting", "held", "sent", "dead")


class JobsPublic(Titled):
    jobs: list[Values]


class WebhooksPublic(Titled):
    webhooks: list[Values]


class ChosenState(TypedDict):
    """The state by which a list is filtered; None for all."""

    state: str | None


class MailPublic(Titled, WithForm):
    letters: list[Values]
    states: list[str]
    chosen: ChosenState


class QueuePublic(Titled, WithForm):
    """``next`` is the background task that the next page begins before."""

    items: list[Values]
    states: list[str]
    chosen: ChosenState
    next: int | None


class AdminOperation:
    """``/admin/jobs`` and ``/admin/webhooks``: their states."""

    def __init__(self, administration: Administration, webhooks: Webhooks) -> None:
        self._administration, self._webhooks = administration, webhooks

    def routes(self) -> Iterator[Route]:
        yield get("/admin/jobs", admins_only(self.jobs))
        yield get("/admin/webhooks", admins_only(self.webhooks))

    async def jobs(self, incoming: Incoming) -> Response:
        """Every job with its last run; ``state`` is running, failed, late (by a minute or more), done or new."""
        rows = await self._administration.jobs(incoming.who)
        jobs = [{name: outward(value) for name, value in row.items()} | {"state": _state(row)} for row in rows]
        return Page("admin/jobs.html", JobsPublic(title=_("Jobs"), jobs=jobs))

    async def webhooks(self, incoming: Incoming) -> Response:
        """Every project with a webhook, those with failures first."""
        states = await self._webhooks.all_states()
        return Page("admin/webhooks.html", WebhooksPublic(title=_("Webhooks"), webhooks=states))


def _state(row: JobState) -> str:
    if row["outcome"] in ("running", "failed"):
        return str(row["outcome"])
    return "late" if row["overdue"] >= _LATE_SECONDS else str(row["outcome"])


class AdminMail:
    """``/admin/mail``: lists the newest messages without their texts, and sends failed ones again."""

    def __init__(self, administration: Administration, mail: Mail, forms: Forms) -> None:
        self._administration, self._mail, self._forms = administration, mail, forms

    def routes(self) -> Iterator[Route]:
        yield get(_MAIL, admins_only(self.letters))
        yield post(f"{_MAIL}/<int:mail_id>/again", admins_only(self.again))

    async def letters(self, incoming: Incoming) -> Response:
        state = incoming.query.get("state") or None
        if state is not None and state not in _MAIL_STATES:
            raise InvalidValueError(_("Unknown state."))
        rows = await self._mail.list(_SHOWN, state)
        public = MailPublic(
            title=_("Mail"),
            letters=[{name: outward(value) for name, value in attrs.asdict(row).items()} for row in rows],
            states=list(_MAIL_STATES),
            chosen={"state": state},
            form=self._forms.blank(incoming),
        )
        return Page("admin/mail.html", public)

    async def again(self, incoming: Incoming, mail_id: int) -> Response:
        try:
            await self._mail.again(mail_id)
        except ConflictError as error:
            return Redirect(_MAIL, error.args[0], "error")
        await self._administration.note("send_again", "mail", mail_id, incoming.who)
        return Redirect(_MAIL, _("The message will be sent again."))


class AdminQueue:
    """``/admin/queue``: lists all background tasks, cancels them and starts them again."""

    def __init__(self, administration: Administration, queue: Queue, forms: Forms) -> None:
        self._administration, self._queue, self._forms = administration, queue, forms

    def routes(self) -> Iterator[Route]:
        yield get(_QUEUE, admins_only(self.items))
        yield post(f"{_QUEUE}/<int:item_id>/cancel", admins_only(self.cancel))
        yield post(f"{_QUEUE}/<int:item_id>/retry", admins_only(self.retry))

    async def items(self, incoming: Incoming) -> Response:
        """The newest tasks, or those before one. ``state`` is a filter."""
        state, before = incoming.query.get("state") or None, incoming.query.get("before") or None
        if state is not None and state not in _STATES:
            raise InvalidValueError(_("Unknown state."))
        if before is not None and not (before.isascii() and before.isdigit() and len(before) < 19):
            raise InvalidValueError(_("before must be the number of an entry."))
        earliest = int(before) if before else None
        rows = await self._queue.list(incoming.who, everybodys=True, state=state, before=earliest, limit=_SHOWN)
        public = QueuePublic(
            title=_("Queue"),
            items=[{name: outward(value) for name, value in row.items()} for row in rows],
            states=list(_STATES),
            chosen={"state": state},
            next=rows[-1]["id"] if len(rows) == _SHOWN else None,
            form=self._forms.blank(incoming),
        )
        return Page("admin/queue.html", public)

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
