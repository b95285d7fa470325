"""Periodic jobs, background tasks, e-mail and webhooks, as administrators see them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict

import attrs

from crowdd.domain.core.background_queue import Queue, view
from crowdd.domain.mail.mail import Mail
from crowdd.domain.server.administration import Administration
from crowdd.domain.webhooks.webhooks import Webhooks, state_view
from crowdd.errors import ConflictError, InvalidValueError
from crowdd.http.html.forms import Forms, WithForm
from crowdd.http.html.row_lists import RowList, WithTable, outward_rows, page_csv, selected
from crowdd.http.pages.admin.access import admins_only
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.kinds.kind import outward
from crowdd.languages import _, ngettext
from crowdd.storage.server.rows import JobState
from crowdd.values import Values

_LATE_SECONDS = 60
_QUEUE, _MAIL = "/admin/queue", "/admin/mail"
_LIST = RowList()
_TROUBLED_FIRST = RowList(("state",))
_HOOK = ("short_name", "url", "state", "why_off", "failures", "n_waiting", "n_failed", "last_delivered", "next_attempt")
_LETTER = ("id", "created", "recipient", "template", "locale", "subject", "state", "attempts", "due", "ended", "error")
_ITEM = ("id", "name", "project_id", "user_name", "state", "created", "began", "ended", "done", "total", "error")
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


class MailPrivate(WithTable):
    """``to``: the address by which the list is filtered."""

    to: str


class QueuePublic(Titled, WithForm):
    """``next`` is the background task that the next page begins before."""

    items: list[Values]
    states: list[str]
    chosen: ChosenState
    next: int | None


class QueuePrivate(WithTable):
    """``people``: by task, the user name of who started it; None for the operator."""

    people: dict[int, str | None]


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
        """Every project with a webhook, those with failures first; people get a page of them."""
        if incoming.wants_json:
            states = await self._webhooks.all_states()
            return Page("admin/webhooks.html", WebhooksPublic(title=_("Webhooks"), webhooks=states))
        place = _TROUBLED_FIRST.place(incoming)
        part = await self._webhooks.page_of_states(place)
        shown = [state_view(row) for row in part.rows]
        if incoming.query.get("csv"):
            return page_csv("webhooks", _HOOK, shown)
        drawn = _TROUBLED_FIRST.drawn(place, {}, part, lambda row: row.project_id)
        return Page("admin/webhooks.html", WebhooksPublic(title=_("Webhooks"), webhooks=shown), drawn)


def _state(row: JobState) -> str:
    if row["outcome"] in ("running", "failed"):
        return str(row["outcome"])
    return "late" if row["overdue"] >= _LATE_SECONDS else str(row["outcome"])


def _state_in(incoming: Incoming, states: tuple[str, ...]) -> str | None:
    """The state by which the address filters. Raises InvalidValueError."""
    state = incoming.query.get("state") or None
    if state is not None and state not in states:
        raise InvalidValueError(_("Unknown state."))
    return state


class AdminMail:
    """``/admin/mail``: lists messages without their texts, and sends failed ones again."""

    def __init__(self, administration: Administration, mail: Mail, forms: Forms) -> None:
        self._administration, self._mail, self._forms = administration, mail, forms

    def routes(self) -> Iterator[Route]:
        yield get(_MAIL, admins_only(self.letters))
        yield post(f"{_MAIL}/again", admins_only(self.again_each))
        yield post(f"{_MAIL}/<int:mail_id>/again", admins_only(self.again))

    async def letters(self, incoming: Incoming) -> Response:
        """A page of e-mails. ``state`` and ``to`` (a whole address) are filters."""
        place, state = _LIST.place(incoming), _state_in(incoming, _MAIL_STATES)
        to = incoming.query.get("to", "").strip()
        part = await self._mail.page(place, state, to or None)
        letters = outward_rows([attrs.asdict(row) for row in part.rows])
        if incoming.query.get("csv") and not incoming.wants_json:
            return page_csv("mail", _LETTER, letters)
        public = MailPublic(
            title=_("Mail"),
            letters=letters,
            states=list(_MAIL_STATES),
            chosen={"state": state},
            form=self._forms.blank(incoming),
        )
        drawn = _LIST.drawn(place, {"state": state or "", "to": to}, part, lambda row: row.id)
        return Page("admin/mail.html", public, MailPrivate(**drawn, to=to))

    async def again(self, incoming: Incoming, mail_id: int) -> Response:
        try:
            await self._mail.again(mail_id)
        except ConflictError as error:
            return Redirect(_MAIL, error.args[0], "error")
        await self._administration.note("send_again", "mail", mail_id, incoming.who)
        return Redirect(_MAIL, _("The message will be sent again."))

    async def again_each(self, incoming: Incoming) -> Response:
        """Sends the selected messages (``mail_ids``) again, as far as they are held or failed."""
        done = await self._administration.do_each("send_again", selected(incoming, "mail_ids"), incoming.who)
        words = ngettext("%(num)s message will be sent again.", "%(num)s messages will be sent again.", done)
        return Redirect(_MAIL, words, "success" if done else "info")


class AdminQueue:
    """``/admin/queue``: lists all background tasks, cancels them and starts them again."""

    def __init__(self, administration: Administration, queue: Queue, forms: Forms) -> None:
        self._administration, self._queue, self._forms = administration, queue, forms

    def routes(self) -> Iterator[Route]:
        yield get(_QUEUE, admins_only(self.items))
        yield post(f"{_QUEUE}/cancel", admins_only(self.cancel_each))
        yield post(f"{_QUEUE}/retry", admins_only(self.retry_each))
        yield post(f"{_QUEUE}/<int:item_id>/cancel", admins_only(self.cancel))
        yield post(f"{_QUEUE}/<int:item_id>/retry", admins_only(self.retry))

    async def items(self, incoming: Incoming) -> Response:
        """A page of background tasks. ``state`` is a filter."""
        place, state = _LIST.place(incoming), _state_in(incoming, _STATES)
        part = await self._queue.page(incoming.who, place, state)
        if incoming.query.get("csv") and not incoming.wants_json:
            return page_csv("queue", _ITEM, outward_rows([attrs.asdict(row) for row in part.rows]))
        public = QueuePublic(
            title=_("Queue"),
            items=outward_rows([view(row) for row in part.rows]),
            states=list(_STATES),
            chosen={"state": state},
            next=part.rows[-1].id if part.next else None,
            form=self._forms.blank(incoming),
        )
        drawn = _LIST.drawn(place, {"state": state or ""}, part, lambda row: row.id)
        people = {row.id: row.user_name for row in part.rows}
        return Page("admin/queue.html", public, QueuePrivate(**drawn, people=people))

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

    async def cancel_each(self, incoming: Incoming) -> Response:
        """Cancels the selected background tasks (``item_ids``), as far as they have not ended."""
        done = await self._administration.do_each("cancel", selected(incoming, "item_ids"), incoming.who)
        words = ngettext("%(num)s background task will stop.", "%(num)s background tasks will stop.", done)
        return Redirect(_QUEUE, words, "success" if done else "info")

    async def retry_each(self, incoming: Incoming) -> Response:
        """Starts the selected background tasks (``item_ids``) again, as far as they failed or were cancelled."""
        done = await self._administration.do_each("retry", selected(incoming, "item_ids"), incoming.who)
        words = ngettext(
            "%(num)s background task will start again.", "%(num)s background tasks will start again.", done
        )
        return Redirect(_QUEUE, words, "success" if done else "info")
