"""The pages of the review: the queue, one task with all its answers, and the reviewers of a project."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypedDict
from urllib.parse import quote, urlencode

import attrs

from crowdd.features.presenters.frames import PresenterFrames
from crowdd.features.projects.ownership import Ownership, ProjectInvitations
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.projects.views import (
    NewInvitation,
    ProjectPrivate,
    ProjectPublic,
    ProjectViews,
    invitation_link,
    locked_out,
    new_link_message,
    open_until,
)
from crowdd.features.questions import presenter_contents
from crowdd.features.questions.previews import Preview, Previews
from crowdd.features.tasks.task_list import owns
from crowdd.features.trust.review import FILTERS, ReviewedAnswer, Reviewers, ReviewQueue
from crowdd.features.trust.review import ROLE as REVIEWER
from crowdd.features.trust.rows import ReviewCounts, Reviewer
from crowdd.http import queries
from crowdd.http.auth.csrf import Csrf
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import InvalidValueError, NotFoundError, PreconditionError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values
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
            source=presenter_contents.source(row["info"], "task"),
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
        seen = queries.parse_number(incoming.field("result_id"), "result_id", 0)
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
    number = queries.parse_number(text, "class", 1, max(len(choices), 1))
    if not 1 <= number <= len(choices):
        raise InvalidValueError(_("Choose an answer."))
    return choices[number - 1]


def _chosen(incoming: Incoming) -> ChosenReviews:
    """What the address says. Raises InvalidValueError."""
    which, class_ = incoming.query.get("which", ""), incoming.query.get("class", "")
    if which and which not in FILTERS:
        raise InvalidValueError(_("%(name)s must be one of %(choices)s.", name="which", choices=", ".join(FILTERS)))
    if class_:
        queries.parse_number(class_, "class", 0, 50)
    pairs = {"which": which, "class": class_}
    return {"which": which, "class_": class_, "query": urlencode({name: one for name, one in pairs.items() if one})}


def _class(chosen: ChosenReviews) -> int | None:
    return int(chosen["class_"]) if chosen["class_"] else None


def _after(incoming: Incoming) -> int | None:
    text = incoming.query.get("after", "")
    return queries.parse_number(text, "after", 0) if text else None


def _path(short_name: str, task_id: int | None, chosen: ChosenReviews) -> str:
    at = f"/project/{quote(short_name)}/review"
    path = at if task_id is None else f"{at}/{task_id}"
    return f"{path}?{chosen['query']}" if chosen["query"] else path


def _outward(row: object) -> Values:
    """A row as programs and templates get it; ``class_`` is called ``class``."""
    assert isinstance(row, dict)
    return {"class" if name == "class_" else name: outward(value) for name, value in row.items()}


_REVIEWERS_AT = "/project/<short_name>/reviewers"


class ReviewersPublic(ProjectPublic, WithForm, Message, NewInvitation):
    """``invitation`` is when the open invitation expires."""

    reviewers: list[Reviewer]
    invitation: str | None


class ReviewersPrivate(ProjectPrivate):
    """``address`` is that of the review, to send to them; ``link`` that of a new invitation, shown only once."""

    address: str
    link: str | None


class ReviewerPages:
    """``/project/<short_name>/reviewers``."""

    def __init__(
        self, projects: Projects, reviewers: Reviewers, base_url: str, forms: Forms, views: ProjectViews
    ) -> None:
        self._projects, self._reviewers, self._base_url = projects, reviewers, base_url
        self._forms, self._views = forms, views

    def routes(self) -> Iterator[Route]:
        yield get(_REVIEWERS_AT, locked_out(self.page), manages=True)
        yield post(_REVIEWERS_AT, locked_out(self.add), manages=True)
        yield post(f"{_REVIEWERS_AT}/invite", locked_out(self.invite), manages=True)
        yield post(f"{_REVIEWERS_AT}/withdraw", locked_out(self.withdraw), manages=True)
        yield post(f"{_REVIEWERS_AT}/<name>/remove", locked_out(self.remove), manages=True)

    async def page(self, incoming: Incoming, short_name: str) -> Response:
        """The list, and a form for one more."""
        row = await self._projects.owned(short_name, incoming.who)
        return await self._page(incoming, row, self._forms.blank(incoming, "user"))

    async def _page(
        self,
        incoming: Incoming,
        row: ProjectPage,
        form: Form,
        message: Message = NO_MESSAGE,
        link: str | None = None,
    ) -> Response:
        context = await self._views.context(incoming, row, _("Reviewers"))
        made: NewInvitation = {} if link is None else {"invitation_url": link}
        public = ReviewersPublic(
            **context.public,
            **made,
            reviewers=await self._reviewers.listed(row["id"]),
            invitation=open_until(await self._reviewers.invitation(row["id"])),
            form=form,
            **message,
        )
        private = ReviewersPrivate(**context.private, address=f"{self._views.address(row)}review", link=link)
        return Page("project/reviewers.html", public, private)

    async def invite(self, incoming: Incoming, short_name: str) -> Response:
        """Makes an invitation. Its link is shown only once; programs get it as ``invitation_url``."""
        row = await self._projects.owned(short_name, incoming.who)
        link = invitation_link(self._base_url, row["short_name"], await self._reviewers.invite(row["id"], incoming.who))
        return await self._page(incoming, row, self._forms.blank(incoming, "user"), new_link_message(), link)

    async def withdraw(self, incoming: Incoming, short_name: str) -> Response:
        """Ends the open invitation."""
        row = await self._projects.owned(short_name, incoming.who)
        await self._reviewers.withdraw(row["id"], incoming.who)
        return _back(short_name, _("The invitation is withdrawn."), True)

    async def add(self, incoming: Incoming, short_name: str) -> Response:
        """Makes the account with the user name ``user`` a reviewer."""
        row = await self._projects.owned(short_name, incoming.who)
        name = incoming.field("user").strip()
        try:
            done = await self._reviewers.add(row["id"], row["owners_ids"], name, incoming.who)
        except NotFoundError:
            wrong = _("No account has the user name “%(name)s”.", name=name) if name else _("Please fill this in.")
            return await self._page(incoming, row, self._forms.refused(incoming, {"user": [wrong]}, "user"), MISTAKES)
        words = _("%(name)s is now a reviewer.", name=name)
        return _back(short_name, words if done else _("%(name)s can review tasks already.", name=name), done)

    async def remove(self, incoming: Incoming, short_name: str, name: str) -> Response:
        """Takes the right of a reviewer away."""
        row = await self._projects.owned(short_name, incoming.who)
        done = await self._reviewers.remove(row["id"], name, incoming.who)
        words = _("%(name)s is no longer a reviewer.", name=name)
        return _back(short_name, words if done else _("%(name)s is not a reviewer.", name=name), done)


def _back(short_name: str, words: str, done: bool) -> Response:
    return Redirect(f"/project/{quote(short_name)}/reviewers", words, "success" if done else "info")


class InvitationPublic(Titled, WithForm):
    """``by`` is the name of the person who invites, ``role`` what one becomes: coowner or reviewer."""

    project: Values
    by: str
    role: str


class InvitationPrivate(TypedDict):
    """``here`` is the address of the invitation."""

    here: str


class InvitationPages:
    """``/project/<short_name>/invitation``. People can open it before they sign in."""

    def __init__(
        self, invitations: ProjectInvitations, ownership: Ownership, reviewers: Reviewers, forms: Forms
    ) -> None:
        self._invitations, self._ownership, self._reviewers = invitations, ownership, reviewers
        self._forms = forms

    def routes(self) -> Iterator[Route]:
        yield get("/project/<short_name>/invitation", self.invitation)
        yield post("/project/<short_name>/invitation", self.accept)

    async def invitation(self, incoming: Incoming, short_name: str) -> Response:
        """What the link is to."""
        key = incoming.query.get("key", "")
        invited = await self._invitations.invited(key, short_name)
        here = f"/project/{quote(short_name)}/invitation?key={quote(key)}"
        public = InvitationPublic(title=_("Invitation"), form=self._forms.blank(incoming), **invited)
        return Page("project/invitation.html", public, InvitationPrivate(here=here))

    async def accept(self, incoming: Incoming, short_name: str) -> Response:
        """Uses the link up."""
        key = incoming.query.get("key", "") or incoming.field("key")
        if (await self._invitations.invited(key, short_name))["role"] == REVIEWER:
            done = await self._reviewers.accept(key, short_name, incoming.who)
            words = _("You are now a reviewer of this project.") if done else _("You can review tasks already.")
            return Redirect(f"/project/{quote(short_name)}/review", words, "success" if done else "info")
        done = await self._ownership.accept(key, short_name, incoming.who)
        words = _("You are now a co-owner of this project.") if done else _("You are a co-owner already.")
        return Redirect(f"/project/{quote(short_name)}/settings", words, "success" if done else "info")
