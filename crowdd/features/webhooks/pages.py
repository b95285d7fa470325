"""The webhook of a project, for its owners: address, secret, deliveries, and sending them again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict
from urllib.parse import quote

from crowdd.core.records.records import Records
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.projects.views import ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.features.webhooks.webhooks import STATES, Webhooks, delivery_view
from crowdd.http.html.forms import Form, Forms, WithForm
from crowdd.http.html.tables import RowList, WithTable, page_csv, selected
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import InvalidValueError, RefusedTargetError
from crowdd.kernel.languages import _, ngettext
from crowdd.kernel.values import Values
from crowdd.kinds.project import PROJECT
from crowdd.kinds.types import Integer

_PEOPLE, _PROGRAMS = RowList(per_page=25), RowList(per_page=20)
_COLUMNS = ("sequence", "state", "response_status_code", "seconds", "updated", "event", "problem")
_AT = "/project/<short_name>/webhook"


class ChosenState(TypedDict):
    """The state by which the deliveries are filtered; None for all."""

    state: str | None


class WebhookPublic(ProjectPublic, WithForm, Message):
    webhook: Values
    secret: str | None
    deliveries: list[Values]
    chosen: ChosenState
    next: int | None


class WebhookPrivate(ProjectPrivate, WithTable):
    """The table around the deliveries."""


class DeliveryPublic(ProjectPublic, WithForm):
    delivery: Values


class WebhookPages:
    """``/project/<short_name>/webhook`` and what is below."""

    def __init__(
        self, projects: Projects, webhooks: Webhooks, records: Records, forms: Forms, views: ProjectViews
    ) -> None:
        self._projects, self._webhooks, self._records = projects, webhooks, records
        self._forms, self._views = forms, views

    def routes(self) -> Iterator[Route]:
        yield get(_AT, locked_out(self.page), action="write")
        yield post(_AT, locked_out(self.set_address))
        yield post(f"{_AT}/test", locked_out(self.test))
        yield post(f"{_AT}/on", locked_out(self.switch_on))
        yield post(f"{_AT}/secret", locked_out(self.rotate))
        yield post(f"{_AT}/redeliver", locked_out(self.redeliver))
        yield post(f"{_AT}/backfill", locked_out(self.backfill))
        yield get(f"{_AT}/<int:delivery_id>", locked_out(self.delivery))
        yield post(f"{_AT}/<int:delivery_id>", locked_out(self.again))

    async def page(self, incoming: Incoming, short_name: str) -> Response:
        """State, secret and a page of the deliveries. ``state`` is a filter."""
        row = await self._owned(incoming, short_name)
        form = self._forms.blank(incoming, "webhook") | {"webhook": row["webhook"]}
        return await self._page(incoming, row, form)

    async def _page(self, incoming: Incoming, row: ProjectPage, form: Form, message: Message = NO_MESSAGE) -> Response:
        rows = _PROGRAMS if incoming.wants_json else _PEOPLE
        place, state = rows.place(incoming), incoming.query.get("state") or None
        if state is not None and state not in STATES:
            raise InvalidValueError(_("Unknown state."))
        part = await self._webhooks.page(row, incoming.who, place, state)
        log = [delivery_view(one) for one in part.rows]
        if incoming.query.get("csv") and not incoming.wants_json:
            return page_csv(f"{row['short_name']}_deliveries", _COLUMNS, log)
        context = await self._views.context(incoming, row)
        public = WebhookPublic(
            **context.public,
            webhook=await self._webhooks.state(row, incoming.who),
            secret=await self._webhooks.secret(row, incoming.who),
            deliveries=log,
            chosen={"state": state},
            next=log[-1]["id"] if part.next else None,
            form=form,
            **message,
        )
        drawn = rows.drawn(place, {"state": state or ""}, part, lambda one: int(one.id))
        return Page("project/webhook.html", public, WebhookPrivate(**context.private, **drawn))

    async def set_address(self, incoming: Incoming, short_name: str) -> Response:
        """Sets the address, or removes it when the field is empty. Without the field it stays."""
        row = await self._owned(incoming, short_name)
        address = incoming.text("webhook", row["webhook"]).strip()
        try:
            if address and "webhook" in incoming.form:
                self._webhooks.require(address)
        except RefusedTargetError as error:
            form = self._forms.refused(incoming, {"webhook": [error.args[0]]}, "webhook")
            return await self._page(incoming, row, form, Message(flash=error.args[0], status="error"))
        if "webhook" in incoming.form:
            await self._records.change(PROJECT, incoming.who, row["id"], {"webhook": address or None})
        words = _("The address is saved.") if address else _("The webhook address was removed.")
        return Redirect(_at(short_name), words)

    async def test(self, incoming: Incoming, short_name: str) -> Response:
        row = await self._owned(incoming, short_name)
        sent = await self._webhooks.ping(row, incoming.who)
        return Redirect(f"{_at(short_name)}/{sent}", _("A test event is being sent."), more={"id": sent})

    async def switch_on(self, incoming: Incoming, short_name: str) -> Response:
        await self._webhooks.switch_on(await self._owned(incoming, short_name), incoming.who)
        return Redirect(_at(short_name), _("The webhook is on. Waiting events are being sent."))

    async def rotate(self, incoming: Incoming, short_name: str) -> Response:
        secret = await self._webhooks.rotate(await self._owned(incoming, short_name), incoming.who)
        words = _("The webhook has a new secret. For one day, messages are also signed with the old one.")
        return Redirect(_at(short_name), words, more={"secret": secret})

    async def redeliver(self, incoming: Incoming, short_name: str) -> Response:
        """Sends again events by their numbers (``from``, ``to``), selected deliveries, or all that failed."""
        row = await self._owned(incoming, short_name)
        first, last = (incoming.field(name) for name in ("from", "to"))
        if first:
            upto = Integer().parse(last) if last else None
            count = await self._webhooks.replay(row, incoming.who, Integer().parse(first), upto)
        elif incoming.field("ticked"):
            count = await self._webhooks.again_each(row, incoming.who, selected(incoming, "delivery_ids"))
        else:
            count = await self._webhooks.all_failed_again(row, incoming.who)
        words = ngettext(
            "%(count)s event is being sent again.", "%(count)s events are being sent again.", count, count=count
        )
        return Redirect(_at(short_name), words, more={"count": count})

    async def backfill(self, incoming: Incoming, short_name: str) -> Response:
        count = await self._webhooks.backfill(await self._owned(incoming, short_name), incoming.who)
        words = ngettext("%(num)s event is sent.", "%(num)s events are sent.", count)
        return Redirect(_at(short_name), words, more={"count": count})

    async def delivery(self, incoming: Incoming, short_name: str, delivery_id: int) -> Response:
        """One delivery with all its attempts."""
        row = await self._owned(incoming, short_name)
        delivery = await self._webhooks.delivery(row, incoming.who, delivery_id)
        context = await self._views.context(incoming, row)
        public = DeliveryPublic(**context.public, delivery=delivery, form=self._forms.blank(incoming))
        return Page("project/delivery.html", public, context.private)

    async def again(self, incoming: Incoming, short_name: str, delivery_id: int) -> Response:
        """Sends the delivery again. Programs get it as the log has it."""
        row = await self._owned(incoming, short_name)
        await self._webhooks.again(row, incoming.who, delivery_id)
        delivery = await self._webhooks.delivery(row, incoming.who, delivery_id)
        return Redirect(f"{_at(short_name)}/{delivery_id}", _("The event is being sent again."), more=delivery)

    async def _owned(self, incoming: Incoming, short_name: str) -> ProjectPage:
        return await self._projects.owned(short_name, incoming.who)


def _at(short_name: str) -> str:
    return f"/project/{quote(short_name)}/webhook"
