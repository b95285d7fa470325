"""The pages of the review: the queue, and one task with all its answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypedDict
from urllib.parse import quote, urlencode

import attrs

from crowdd.features.presenters.frames import PresenterFrames
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.projects.views import (
    ProjectPrivate,
    ProjectPublic,
    ProjectViews,
    locked_out,
)
from crowdd.features.questions import presenter_contents
from crowdd.features.questions.previews import Preview, Previews
from crowdd.features.tasks.task_list import owns
from crowdd.features.trust.review import FILTERS, ReviewedAnswer, ReviewQueue
from crowdd.features.trust.rows import ReviewCounts
from crowdd.features.trust.whole_answers import is_decidable, is_whole, questions_to_decide
from crowdd.http import queries
from crowdd.http.auth.csrf import Csrf
from crowdd.http.reader_language import locale_of
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import InvalidValueError, PreconditionError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Json, Values
from crowdd.kinds.answers.words import titles_of, worded_answer, words_of
from crowdd.kinds.kind import outward

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
    """``first``: no page was before. ``declared``: there is a label. ``decidable``: see WholeAnswers."""

    owns: bool
    first: bool
    declared: bool
    decidable: bool


class ReviewedPublic(ProjectPublic):
    """``result`` is the last one of the task. ``opinions``: what others think while a second opinion is wanted.

    ``beginning``: what a decision about all questions begins with.
    """

    task: Values
    result: Values
    answers: list[ReviewedAnswer]
    opinions: list[Values]
    differ: bool
    beginning: Values | None
    csrf: str


class ReviewedPrivate(ProjectPrivate):
    """``keys`` has a key for each class. ``next`` is the address of the next task, None for the last one.

    ``preview`` is what the frame is told, with the ``source`` of its page ("" for none). ``decides``: the requester
    decides also where reviewers differ. ``whole``: what is answered in the frame is the decision. ``withdraws``: the
    requester may withdraw the decision. ``titles``: the texts of questions; ``worded``: answers with labels,
    by their ids.
    """

    owns: bool
    keys: list[str]
    next: str | None
    chosen: ChosenReviews
    preview: Preview
    source: str
    decides: bool
    mine: bool
    whole: bool
    withdraws: bool
    titles: dict[str, str]
    worded: dict[int, Json]


@attrs.frozen(eq=False)
class ReviewPages:
    """``/project/<short_name>/review``."""

    _projects: Projects
    _reviews: ReviewQueue
    _previews: Previews
    _frames: PresenterFrames
    _csrf: Csrf
    _views: ProjectViews

    def routes(self) -> Iterator[Route]:
        yield get(_AT, locked_out(self.page))
        yield get(f"{_AT}/<int:task_id>", locked_out(self.task))
        yield post(f"{_AT}/<int:task_id>", locked_out(self.decide))

    async def page(self, incoming: Incoming, short_name: str) -> Response:
        """The queue: ``which`` and ``class`` filter it, ``after`` is where a page begins."""
        row = await self._projects.page(short_name, incoming.who)
        self._reviews.require(incoming.who, row)
        chosen, after = chosen_reviews(incoming), _after(incoming)
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
        private = ReviewPrivate(
            **context.private,
            owns=owns(row),
            first=after is None,
            declared=bool(choices),
            decidable=is_decidable(row["info"]),
        )
        return Page("project/review.html", public, private)

    async def task(self, incoming: Incoming, short_name: str, task_id: int) -> Response:
        """A completed task as volunteers see it, with all its answers."""
        if incoming.is_frame:
            return self._frames.preview(incoming)
        row = await self._projects.page(short_name, incoming.who)
        review_case = await self._reviews.case(incoming.who, row, task_id)
        chosen, result = chosen_reviews(incoming), review_case["result"]
        context = await self._views.context(incoming, row, _("Review task %(number)s", number=task_id))
        public = ReviewedPublic(
            **context.public,
            task=review_case["task"],
            result=_outward(result),
            answers=review_case["answers"],
            opinions=[_outward(each) for each in review_case["opinions"]],
            differ=review_case["differ"],
            beginning=review_case["beginning"],
            csrf=self._csrf.token(incoming),
        )
        words, whole = words_of(row["info"], locale_of(incoming)), is_whole(row["info"])
        preview = self._previews.of_task(row, review_case["task"])
        if whole:
            preview["tasks"][0]["answer"] = review_case["beginning"]
        info = questions_to_decide(row["info"]) if whole else row["info"]
        private = ReviewedPrivate(
            **context.private,
            owns=owns(row),
            keys=list(KEYS[: len(result["choices"])]),
            next=await onward(self._reviews, incoming, row, result["result_id"]),
            chosen=chosen,
            preview=preview,
            source=presenter_contents.source(info, "task"),
            decides=owns(row),
            mine=any(each["user_id"] == incoming.who.acting_user for each in review_case["opinions"]),
            whole=whole,
            titles=titles_of(words),
            worded={one["id"]: worded_answer(one["info"], words) for one in review_case["answers"]},
            withdraws=result["reason"] == "expert" and (owns(row) or result["decided_by"] == incoming.who.acting_user),
        )
        return Page("project/review_task.html", public, private)

    async def decide(self, incoming: Incoming, short_name: str, task_id: int) -> Response:
        """Decides the task for the ``class`` of the form, or asks for a second opinion; then comes the next task.

        ``gold``: the task becomes a gold task, too.
        """
        row = await self._projects.page(short_name, incoming.who)
        self._reviews.require(incoming.who, row)
        chosen, choices = chosen_reviews(incoming), await self._reviews.choices(row)
        seen = queries.parse_number(incoming.field("result_id"), "result_id", 0)
        next_path = await onward(self._reviews, incoming, row, seen)
        ticks = {name: bool(incoming.field(name)) for name in ("second", "gold")}
        try:
            done = await self._reviews.decide(incoming.who, seen, _answer(incoming.field("class"), choices), **ticks)
        except PreconditionError as error:
            return Redirect(review_path(short_name, task_id, chosen), error.args[0], "warning")
        words = _("The task is decided, and a gold task now.") if done["gold"] else _WORDS[done["state"]]
        return Redirect(next_path or review_path(short_name, None, chosen), words, more=done)


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
    number = queries.parse_number(text, "class", 1, max(len(choices), 1))
    if not 1 <= number <= len(choices):
        raise InvalidValueError(_("Choose an answer."))
    return choices[number - 1]


def chosen_reviews(incoming: Incoming) -> ChosenReviews:
    """What the address says. Raises InvalidValueError."""
    which, class_ = incoming.query.get("which", ""), incoming.query.get("class", "")
    if which and which not in FILTERS:
        raise InvalidValueError(_("%(name)s must be one of %(choices)s.", name="which", choices=", ".join(FILTERS)))
    if class_:
        queries.parse_number(class_, "class", 0, 50)
    pairs = {"which": which, "class": class_}
    return {"which": which, "class_": class_, "query": urlencode({name: one for name, one in pairs.items() if one})}


async def onward(reviews: ReviewQueue, incoming: Incoming, row: ProjectPage, after: int) -> str | None:
    """The address of the task behind a result in the order that the address chooses; None behind the last one."""
    chosen = chosen_reviews(incoming)
    next_case = await reviews.next(incoming.who, row, chosen["which"], _class(chosen), after)
    return None if next_case is None else review_path(row["short_name"], next_case["task_id"], chosen)


def _class(chosen: ChosenReviews) -> int | None:
    return int(chosen["class_"]) if chosen["class_"] else None


def _after(incoming: Incoming) -> int | None:
    text = incoming.query.get("after", "")
    return queries.parse_number(text, "after", 0) if text else None


def review_path(short_name: str, task_id: int | None, chosen: ChosenReviews) -> str:
    at = f"/project/{quote(short_name)}/review"
    path = at if task_id is None else f"{at}/{task_id}"
    return f"{path}?{chosen['query']}" if chosen["query"] else path


def _outward(row: object) -> Values:
    """A row as programs and templates get it; ``class_`` is called ``class``."""
    assert isinstance(row, dict)
    return {"class" if name == "class_" else name: outward(value) for name, value in row.items()}
