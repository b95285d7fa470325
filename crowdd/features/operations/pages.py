"""The operator's pages of jobs, tasks, e-mail and webhooks, monitoring endpoints, and responses during startup.

Monitoring has liveness, readiness and metrics. The responses during startup serve while the server waits for its
database.
"""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Awaitable, Callable, Iterator
from typing import TypedDict

import attrs
import orjson

from crowdd.core.mail.mail import Mail
from crowdd.features.operations.readiness import OK, Readiness
from crowdd.features.projects.views import admins_only
from crowdd.features.site.administration import Administration
from crowdd.features.webhooks.webhooks import Webhooks, state_view
from crowdd.http.edge.response_writer import fixed
from crowdd.http.edge.server_request import Request
from crowdd.http.edge.site import RootResource
from crowdd.http.errors import error_object, headers_of, target_of
from crowdd.http.html.forms import Forms, WithForm
from crowdd.http.html.tables import RowList, WithTable, outward_rows, page_csv, selected
from crowdd.http.request import Incoming
from crowdd.http.responses import BytesResponse, Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import ConflictError, InvalidValueError, UnavailableError
from crowdd.kernel.languages import _, ngettext
from crowdd.kernel.values import Values
from crowdd.kinds.kind import outward
from crowdd.sched.queue import Queue, view
from crowdd.sched.rows import JobState

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


HEALTH = "/health"
_UNKEPT = {"Cache-Control": "no-store"}
_FORWARDED = ("x-forwarded-for", "forwarded", "x-real-ip", "via")
_PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


class Monitoring:
    """``/health``, ``/ready`` and ``/metrics``. They have no rate limit: frequent requests get cached values."""

    def __init__(self, readiness: Readiness, token: str, figures: Callable[[], Awaitable[bytes]]) -> None:
        self._readiness, self._token, self._figures = readiness, token, figures

    def routes(self) -> Iterator[Route]:
        yield get(HEALTH, self.health, page=False, hot=True, fixed=fixed(health_response()))
        yield get("/ready", self.ready, page=False)
        yield get("/metrics", self.metrics, page=False, key_header=False)

    async def health(self, incoming: Incoming) -> Response:
        """A fixed answer: the process is alive."""
        return health_response()

    async def ready(self, incoming: Incoming) -> Response:
        """The readiness checks; status 503 if one of them fails."""
        return readiness_response(await self._readiness.checks())

    async def metrics(self, incoming: Incoming) -> Response:
        """The metrics. Without the token, or from another machine if there is no token, one line that says so."""
        sent = incoming.header("authorization").removeprefix("Bearer ")
        with_token = self._token and hmac.compare_digest(sent.encode("utf-8", "replace"), self._token.encode())
        if not with_token and (self._token or not on_this_machine(incoming)):
            hint = "Send the request from the server itself, without a proxy, or send the token of [metrics] token."
            words = "The metrics of this server are not public."
            headers = {**_UNKEPT, "WWW-Authenticate": "Bearer"}
            return BytesResponse(f"{words} {hint}\n".encode(), "text/plain; charset=utf-8", 401, headers)
        return BytesResponse(await self._figures(), _PROMETHEUS, headers=_UNKEPT)


def health_response() -> BytesResponse:
    """The response of ``/health``."""
    return BytesResponse(b"ok\n", "text/plain; charset=utf-8", headers=_UNKEPT)


def readiness_response(checks: dict[str, str]) -> BytesResponse:
    """The response of ``/ready`` for the checks by name."""
    ready = all(words == OK for words in checks.values())
    body = orjson.dumps({"ready": ready, "checks": checks})
    return BytesResponse(
        body, "application/json", 200 if ready else 503, _UNKEPT if ready else {**_UNKEPT, "Retry-After": "5"}
    )


def on_this_machine(incoming: Incoming) -> bool:
    """Whether the connection comes from this machine and not through a proxy."""
    host: str | None = getattr(incoming.request.getClientAddress(), "host", None)
    if any(incoming.header(name) for name in _FORWARDED):
        return False
    try:
        return host is None or ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


_WORDS = "The server is starting and waiting for its database."


class Starting(RootResource):
    """Answers every request while the server starts."""

    async def body_limit(self, request: Request) -> int:
        """Raise UnavailableError: the sender of a large body cannot be identified yet."""
        raise UnavailableError(_WORDS, retry_after=5)

    def render(self, request: Request) -> bytes:
        """503 to everything but ``/health``."""
        answer = _answer(request.method.decode("ascii", "replace"), request.path.decode("ascii", "replace"))
        request.route = "(starting)"
        request.setResponseCode(answer.status)
        request.setHeader("Content-Type", answer.content_type)
        for name, value in answer.headers.items():
            request.setHeader(name, value)
        return answer.body


def _answer(method: str, path: str) -> BytesResponse:
    error = UnavailableError(_WORDS, retry_after=5)
    if path == HEALTH:
        return health_response()
    if path == "/ready":
        return readiness_response({"database": _WORDS})
    headers = {**headers_of(error), "Cache-Control": "no-store"}
    if path.startswith("/api"):
        return BytesResponse(
            orjson.dumps(error_object(error, method, target_of(path))), "application/json", 503, headers
        )
    return BytesResponse(f"{_WORDS}\n".encode(), "text/plain; charset=utf-8", 503, headers)
