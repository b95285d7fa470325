"""The review of completed tasks: the queue, and one task with all its answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypedDict
from urllib.parse import quote, urlencode

from crowdd.domain.projects.projects import Projects
from crowdd.domain.tasks.review.review_queue import FILTERS, ReviewedAnswer, ReviewQueue
from crowdd.errors import InvalidValueError, PreconditionError
from crowdd.http import queries
from crowdd.http.auth.csrf import Csrf
from crowdd.http.html import presenter
from crowdd.http.pages.project.data.tasks import owns
from crowdd.http.pages.project.presenters.frames import PresenterFrames
from crowdd.http.pages.project.presenters.previews import Preview, Previews
from crowdd.http.pages.project.views import ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.kinds.kind import outward
from crowdd.languages import _
from crowdd.storage.projects.rows import ProjectPage
from crowdd.storage.tasks.review.rows import ReviewCounts
from crowdd.values import Values

_AT = "/project/<short_name>/review"
KEYS = "123456789abcdefhijklmopqrtuvwxyz"
"""A key for each class, in their order. G, N and S are left for the page; further classes have none."""


class ChosenReviews(TypedDict):
    """What the address chooses: a filter ("" for the queue) and a class ("" for all, 0 for none); ``query`` is both."""

    which: str
    class_: str
    query: str


class ReviewPublic(ProjectPublic):
    """``choices`` are the classes; ``next``: behind which result the next page begins."""

    tasks: list[Values]
    choices: list[object]
    counts: ReviewCounts
    chosen: ChosenReviews
    next: int | None


class ReviewPrivate(ProjectPrivate):
    """``first``: no page was before. ``declared``: the first answer field is a label."""

    owns: bool
    first: bool
    declared: bool


class ReviewedPublic(ProjectPublic):
    """``result`` is the last one of the task. ``opinions``: what others think while a second opinion is wanted."""

    task: Values
    result: Values
    answers: list[ReviewedAnswer]
    opinions: list[Values]
    differ: bool
    csrf: str


class ReviewedPrivate(ProjectPrivate):
    """``keys`` has a key for each class. ``next`` is the address of the next task, None for the last one.

    ``preview`` is what the frame is told, with the ``source`` of its page ("" for none). ``decides``: the requester
    decides also where reviewers differ.
    """

    owns: bool
    keys: list[str]
    next: str | None
    chosen: ChosenReviews
    preview: Preview
    source: str
    decides: bool
    mine: bool


class ReviewPages:
    """``/project/<short_name>/review``."""

    def __init__(
        self,
        projects: Projects,
        reviews: ReviewQueue,
        previews: Previews,
        frames: PresenterFrames,
        csrf: Csrf,
        views: ProjectViews,
    ) -> None:
        self._projects, self._reviews, self._previews = projects, reviews, previews
        self._frames, self._csrf, self._views = frames, csrf, views

    def routes(self) -> Iterator[Route]:
        yield get(_AT, locked_out(self.page))
        yield get(f"{_AT}/<int:task_id>", locked_out(self.task))
        yield post(f"{_AT}/<int:task_id>", locked_out(self.decide))

    async def page(self, incoming: Incoming, short_name: str) -> Response:
        """The queue: ``which`` and ``class`` filter it, ``after`` is where a page begins."""
        row = await self._projects.page(short_name, incoming.who)
        self._reviews.require(incoming.who, row)
        chosen, after = _chosen(incoming), _after(incoming)
        page = await self._reviews.page(incoming.who, row, chosen["which"], _class(chosen), after)
        choices = await self._reviews.choices(row)
        context = await self._views.context(incoming, row, _("Review"))
        public = ReviewPublic(
            **context.public,
            tasks=[_outward(each) for each in page.tasks],
            choices=choices,
            counts=await self._reviews.counts(row),
            chosen=chosen,
            next=page.next,
        )
        private = ReviewPrivate(**context.private, owns=owns(row), first=after is None, declared=bool(choices))
        return Page("project/review.html", public, private)

    async def task(self, incoming: Incoming, short_name: str, task_id: int) -> Response:
        """A completed task as volunteers see it, with all its answers."""
        if incoming.is_frame:
            return self._frames.preview(incoming)
        row = await self._projects.page(short_name, incoming.who)
        review_case = await self._reviews.case(incoming.who, row, task_id)
        chosen, result = _chosen(incoming), review_case["result"]
        context = await self._views.context(incoming, row, _("Review task %(number)s", number=task_id))
        public = ReviewedPublic(
            **context.public,
            task=review_case["task"],
            result=_outward(result),
            answers=review_case["answers"],
            opinions=[_outward(each) for each in review_case["opinions"]],
            differ=review_case["differ"],
            csrf=self._csrf.token(incoming),
        )
        private = ReviewedPrivate(
            **context.private,
            owns=owns(row),
            keys=list(KEYS[: len(result["choices"])]),
            next=await self._next(incoming, row, chosen, result["result_id"]),
            chosen=chosen,
            preview=self._previews.of_task(row, review_case["task"]),
            source=presenter.source(row["info"], "task"),
            decides=owns(row),
            mine=any(each["user_id"] == incoming.who.acting_user for each in review_case["opinions"]),
        )
        return Page("project/review_task.html", public, private)

    async def _next(self, incoming: Incoming, row: ProjectPage, chosen: ChosenReviews, after: int) -> str | None:
        next_case = await self._reviews.next(incoming.who, row, chosen["which"], _class(chosen), after)
        return None if next_case is None else _path(row["short_name"], next_case["task_id"], chosen)

    async def decide(self, incoming: Incoming, short_name: str, task_id: int) -> Response:
        """Decides the task for the ``class`` of the form, or asks for a second opinion; then comes the next task.

        ``gold``: the task becomes a gold task, too.
        """
        row = await self._projects.page(short_name, incoming.who)
        self._reviews.require(incoming.who, row)
        chosen, choices = _chosen(incoming), await self._reviews.choices(row)
        seen = queries.number(incoming.field("result_id"), "result_id", 0)
        onward = await self._next(incoming, row, chosen, seen)
        ticks = {name: bool(incoming.field(name)) for name in ("second", "gold")}
        try:
            done = await self._reviews.decide(incoming.who, seen, _answer(incoming.field("class"), choices), **ticks)
        except PreconditionError as error:
            return Redirect(_path(short_name, task_id, chosen), error.args[0], "warning")
        words = _("The task is decided, and a gold task now.") if done["gold"] else _WORDS[done["state"]]
        return Redirect(onward or _path(short_name, None, chosen), words, more=done)


_WORDS = {
    "decided": _("The task is decided."),
    "same": _("The task was decided like this already."),
    "waiting": _("Your opinion is stored. The task waits for a second opinion."),
    "asked": _("The task waits for a second opinion."),
    "differ": _("The opinions differ. An owner of the project decides."),
}


def _answer(text: str, choices: Sequence[object]) -> object:
    """The choice with the number of a form; ``...`` without one. Raises InvalidValueError."""
    if not text:
        return ...
    number = queries.number(text, "class", 1, max(len(choices), 1))
    if not 1 <= number <= len(choices):
        raise InvalidValueError(_("Choose an answer."))
    return choices[number - 1]


def _chosen(incoming: Incoming) -> ChosenReviews:
    """What the address says. Raises InvalidValueError."""
    which, class_ = incoming.query.get("which", ""), incoming.query.get("class", "")
    if which and which not in FILTERS:
        raise InvalidValueError(_("%(name)s must be one of %(choices)s.", name="which", choices=", ".join(FILTERS)))
    if class_:
        queries.number(class_, "class", 0, 50)
    pairs = {"which": which, "class": class_}
    return {"which": which, "class_": class_, "query": urlencode({name: one for name, one in pairs.items() if one})}


def _class(chosen: ChosenReviews) -> int | None:
    return int(chosen["class_"]) if chosen["class_"] else None


def _after(incoming: Incoming) -> int | None:
    text = incoming.query.get("after", "")
    return queries.number(text, "after", 0) if text else None


def _path(short_name: str, task_id: int | None, chosen: ChosenReviews) -> str:
    at = f"/project/{quote(short_name)}/review"
    path = at if task_id is None else f"{at}/{task_id}"
    return f"{path}?{chosen['query']}" if chosen["query"] else path


def _outward(row: object) -> Values:
    """A row as programs and templates get it; ``class_`` is called ``class``."""
    assert isinstance(row, dict)
    return {"class" if name == "class_" else name: outward(value) for name, value in row.items()}
