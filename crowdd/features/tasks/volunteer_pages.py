"""Volunteers of a project: the list, their answers, bars, and the limit of answers per network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from urllib.parse import quote

import attrs

from crowdd.core.records.listing_statements import Query, equal
from crowdd.core.records.records import Records
from crowdd.core.records.statements import Keyset, KeysetPage
from crowdd.core.text.words import PlacePagination
from crowdd.features.projects.project_validation import MAX_PER_NETWORK
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.projects.views import ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.features.tasks.barring import BarBody, BarResult, Barring
from crowdd.features.tasks.volunteers import MAX_PASSED, PER_PAGE, KnownFigures, Volunteer, Volunteers
from crowdd.http import queries
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.html.tables import PAGE_SIZES, PageLinks, RowList, Table, outward_rows, page_csv, selected_words
from crowdd.http.reader_language import locale_of
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import InvalidValueError, NotFoundError
from crowdd.kernel.languages import _, joined, ngettext
from crowdd.kernel.values import Values
from crowdd.kinds.answers.words import titles_of, worded_answer, words_of
from crowdd.kinds.project import PROJECT
from crowdd.kinds.task_run import TASK_RUN
from crowdd.kinds.types import Integer, clean_text

DOUBT = "doubt"
"""The order in which the most doubtful volunteers come first."""
_AT = "/project/<short_name>/volunteers"
_BAR_FIELDS = ("volunteer", "taskrun_id", "user_name", "reason")
_COLUMNS = ("volunteer", "sort", "user_name", "external_uid", "answers", "barred")
_LIST = RowList(("answers", DOUBT), per_page=PER_PAGE, coded=True)
_KNOWN = {"": None, "account": True, "other": False}
_ANSWERS = 50  # on the page of a volunteer
_MAX_CODE = 100  # characters
_MAX_AT_ONCE = max(PAGE_SIZES)
# What each limit may be, and what is told of a wrong one.
_LIMITS = {
    "counted_per_network": (
        Integer(minimum=0, maximum=MAX_PER_NETWORK),
        _("Enter a whole number from 0 to 1,000, or nothing."),
    ),
    "counted_per_group": (
        Integer(minimum=1, maximum=MAX_PER_NETWORK),
        _("Enter a whole number from 1 to 1,000, or nothing."),
    ),
}


@attrs.frozen
class Asked:
    """Which volunteers the address asks for, and which page of them: by its number, or beside a volunteer."""

    who: str
    place: Keyset
    number: int | None

    @property
    def known(self) -> bool | None:
        """Whether they have an account; None for all."""
        return _KNOWN[self.who]


class VolunteersPublic(ProjectPublic, WithForm, Message):
    """``default`` is how many answers of a network count per task unless the project says otherwise.

    ``next`` is the code of the volunteer whose successor begins the next page. ``known``: what is known of each of the
    volunteers, in their order.
    """

    volunteers: list[Values]
    known: list[Values]
    pagination: PlacePagination
    next: str | None
    barred: list[Values]
    csrf: str
    default: int


class VolunteersPrivate(ProjectPrivate):
    """``who_answered`` is the filter: account, other, or "" for all."""

    table: Table
    page_links: PageLinks
    who_answered: str


class VolunteerPublic(ProjectPublic):
    volunteer: Values
    known: Values
    task_runs: list[Values]
    next: int | None


class VolunteerPrivate(ProjectPrivate):
    """``titles`` are the texts of questions by their names; answers have the labels of their values."""

    task_runs: list[Values]
    titles: dict[str, str]


class VolunteerPages:
    """``/project/<short_name>/volunteers`` and its forms."""

    def __init__(
        self,
        projects: Projects,
        volunteers: Volunteers,
        records: Records,
        barring: Barring,
        forms: Forms,
        views: ProjectViews,
    ) -> None:
        self._projects, self._volunteers, self._records, self._barring = projects, volunteers, records, barring
        self._forms, self._views = forms, views

    def routes(self) -> Iterator[Route]:
        yield get(_AT, locked_out(self.page))
        yield post(_AT, locked_out(self.set_limit))
        yield get(f"{_AT}/<volunteer>", locked_out(self.volunteer))
        yield post(f"{_AT}/bar", locked_out(self.bar))
        yield post(f"{_AT}/<volunteer>/lift", locked_out(self.lift))
        yield post(f"{_AT}/unbar/<int:bar_id>", locked_out(self.unbar))

    async def page(self, incoming: Incoming, short_name: str) -> Response:
        """A page of the volunteers (``page``), the limit, the bars, and a form for a new bar.

        ``volunteer`` or ``taskrun_id`` (an answer of theirs) fills in that form.
        """
        row = await self._projects.owned(short_name, incoming.who)
        return await self._page(incoming, row, self._forms.filled(incoming, **self._values(incoming, row)))

    def _values(self, incoming: Incoming, row: ProjectPage) -> Values:
        named = incoming.query.get("taskrun_id", "")
        word = clean_text(incoming.query.get("volunteer", ""))[:_MAX_CODE] or None
        prefilled = {"volunteer": word, "taskrun_id": named if named.isdigit() else None}
        limits = {name: row["info"].get(name) for name in _LIMITS}
        return {**limits, **prefilled} | dict.fromkeys(("user_name", "reason"))

    async def volunteer(self, incoming: Incoming, short_name: str, volunteer: str) -> Response:
        """One volunteer and their answers, the newest first, or those before ``last_id``."""
        row = await self._projects.owned(short_name, incoming.who)
        volunteer_record = await self._volunteers.find(incoming.who, row["id"], volunteer)
        last = incoming.query.get("last_id")
        last_id = queries.parse_number(last, "last_id", 0) if last else None
        condition = equal(TASK_RUN, project_id=row["id"], volunteer=volunteer)
        query = Query(TASK_RUN, condition, descending=True, limit=_ANSWERS, last_id=last_id)
        runs = await self._records.list(query, incoming.who)
        context = await self._views.context(incoming, row)
        public = VolunteerPublic(
            **context.public,
            volunteer=attrs.asdict(volunteer_record),
            known=_known(await self._volunteers.figures(row["id"], [volunteer_record]))[0],
            task_runs=runs,
            next=runs[-1]["id"] if len(runs) == _ANSWERS else None,
        )
        words = words_of(row["info"], locale_of(incoming))
        worded = [{**run, "info": worded_answer(run["info"], words)} for run in runs]
        private = VolunteerPrivate(**context.private, task_runs=worded, titles=titles_of(words))
        return Page("project/volunteer.html", public, private)

    async def _page(self, incoming: Incoming, row: ProjectPage, form: Form, message: Message = NO_MESSAGE) -> Response:
        asked = _asked(incoming)
        total = await self._volunteers.count(row["id"], asked.known)
        place = asked.place
        if asked.number:
            place = await self._volunteers.numbered(row["id"], place, asked.number, asked.known)
        part = await self._part(incoming, row, place, asked.known)
        listed = [attrs.asdict(each) for each in part.rows]
        if incoming.query.get("csv") and not incoming.wants_json:
            return page_csv(f"{row['short_name']}_volunteers", _COLUMNS, listed)
        barred = await self._barring.listed(incoming.who, row["id"])
        context = await self._views.context(incoming, row)
        public = VolunteersPublic(
            **context.public,
            volunteers=listed,
            known=_known(await self._volunteers.figures(row["id"], part.rows)),
            pagination={
                "page": asked.number,
                "per_page": place.size,
                "total": total,
                "prev": part.previous,
                "next": part.next,
            },
            next=part.rows[-1].volunteer if part.next else None,
            barred=[attrs.asdict(each) for each in barred],
            form=form,
            csrf=form["csrf"],
            default=await self._projects.volunteer_rule(),
            **message,
        )
        drawn = _LIST.drawn(place, {"kind": asked.who}, part, lambda each: each.volunteer)
        private = VolunteersPrivate(**context.private, **drawn, who_answered=asked.who)
        return Page("project/volunteers.html", public, private)

    async def _part(
        self, incoming: Incoming, row: ProjectPage, place: Keyset, known: bool | None
    ) -> KeysetPage[Volunteer]:
        if place.order == DOUBT:
            return await self._volunteers.doubted(incoming.who, row["id"], place)
        return await self._volunteers.listed(incoming.who, row["id"], place, known)

    async def lift(self, incoming: Incoming, short_name: str, volunteer: str) -> Response:
        """Has the answers of a volunteer count who seemed no better than chance."""
        row = await self._projects.owned(short_name, incoming.who)
        done = await self._volunteers.lift(incoming.who, row["id"], volunteer)
        words = _("Their answers count from now on.")
        if done.queue_item is not None:
            words = joined(words, _("Their answers are being changed in the background."))
        return Redirect(f"{_at(short_name)}/{quote(volunteer)}", words, more=attrs.asdict(done))

    async def set_limit(self, incoming: Incoming, short_name: str) -> Response:
        """Sets how many answers of a network, and of the groups of a person, count per task.

        An empty field means the default. Without a field, its limit stays.
        """
        row = await self._projects.owned(short_name, incoming.who)
        texts = {name: incoming.text(name, str(row["info"].get(name, ""))).strip() for name in _LIMITS}
        wrong = {name: [_LIMITS[name][1]] for name, text in texts.items() if not _allows(name, text)}
        if wrong:
            return await self._refused(incoming, row, wrong)
        info = {name: value for name, value in row["info"].items() if name not in _LIMITS}
        limits = {name: int(text) for name, text in texts.items() if text}
        await self._records.change(PROJECT, incoming.who, row["id"], {"info": info | limits})
        return Redirect(_at(short_name), _("The limit is saved."))

    async def bar(self, incoming: Incoming, short_name: str) -> Response:
        """Bars one volunteer, or those whose boxes are ticked, whose answers are set aside, too."""
        row = await self._projects.owned(short_name, incoming.who)
        if incoming.field("ticked"):
            return await self._bar_each(incoming, row, selected_words(incoming, "volunteers"))
        body = {name: incoming.field(name).strip() for name in _BAR_FIELDS if incoming.field(name).strip()}
        if not body:
            return await self._refused(incoming, row, {"volunteer": [_("Please fill this in.")]})
        flags = {"network": incoming.flag("network", False), "set_aside": incoming.flag("set_aside", False)}
        try:
            outcome = await self._barring.bar(incoming.who, row["id"], BarBody.parse(body | flags))
        except InvalidValueError as error:
            named = "taskrun_id" if body.keys() & {"taskrun_id"} else "volunteer"
            return await self._refused(incoming, row, {named: [error.args[0]]})
        except NotFoundError as error:
            named = next((name for name in ("user_name", "taskrun_id") if name in body), "volunteer")
            return await self._refused(incoming, row, {named: [error.hint or _("Not found.")]})
        return _done(short_name, outcome, _("The volunteer is blocked."))

    async def _bar_each(self, incoming: Incoming, row: ProjectPage, codes: list[str]) -> Response:
        bars = {}
        for code in codes[:_MAX_AT_ONCE]:
            body = BarBody(volunteer=clean_text(code)[:_MAX_CODE])
            bar = await self._barring.bar(incoming.who, row["id"], body)
            bars[bar.id] = attrs.asdict(bar)
        words = ngettext("%(num)s volunteer is blocked.", "%(num)s volunteers are blocked.", len(bars))
        status = "success" if bars else "info"
        return Redirect(_at(row["short_name"]), words, status, more={"bars": list(bars.values())})

    async def unbar(self, incoming: Incoming, short_name: str, bar_id: int) -> Response:
        row = await self._projects.owned(short_name, incoming.who)
        outcome = await self._barring.unbar(incoming.who, row["id"], bar_id)
        return _done(short_name, outcome, _("The volunteer is no longer blocked."))

    async def _refused(self, incoming: Incoming, row: ProjectPage, wrong: dict[str, list[str]]) -> Response:
        form = self._forms.refused(incoming, wrong, *_LIMITS, *_BAR_FIELDS)
        return await self._page(incoming, row, form, MISTAKES)


def _asked(incoming: Incoming) -> Asked:
    """Raises InvalidValueError."""
    query = incoming.query
    who, place = query.get("kind", ""), _LIST.place(incoming)
    if who not in _KNOWN:
        choices = ", ".join(name for name in _KNOWN if name)
        raise InvalidValueError(_("%(name)s must be one of %(choices)s.", name="kind", choices=choices))
    page = max(1, queries.parse_number(query.get("page", ""), "page", 1, MAX_PASSED // place.size + 1))
    return Asked(who, place, page if place.row is None else None)


def _allows(name: str, text: str) -> bool:
    """Whether a limit may be so; an empty text is none."""
    try:
        if text:
            _LIMITS[name][0].parse(text)
    except InvalidValueError:
        return False
    return True


def _known(figures: Sequence[KnownFigures]) -> list[Values]:
    """The figures as programs and templates get them."""
    return outward_rows([attrs.asdict(each) for each in figures])


def _at(short_name: str) -> str:
    return f"/project/{quote(short_name)}/volunteers"


def _done(short_name: str, outcome: BarResult, words: str) -> Redirect:
    if outcome.queue_item is not None:
        words = joined(words, _("Their answers are being changed in the background."))
    return Redirect(_at(short_name), words, more=attrs.asdict(outcome))
