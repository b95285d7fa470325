"""Comments on tasks: the form of volunteers with what was answered, and the list of owners."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict
from urllib.parse import quote

from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.projects.views import ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.features.tasks.comments import LISTS, Comments
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.html.tables import RowList, WithTable, outward_rows, page_csv
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import FormError, InvalidValueError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values

_AT = "/project/<short_name>/comments"
_ON_TASK = "/project/<short_name>/task/<int:task_id>/comment"
_FIELDS = ("kind", "text")
_LIST = RowList(per_page=25)
_COLUMNS = ("id", "task_id", "created", "kind", "text", "volunteer", "settled", "shared", "state", "n_reports")


class CommentPublic(ProjectPublic, WithForm, Message):
    """``task`` is the one that the comment is about, as the requester may see it; ``comments`` are those they read.

    ``shared``: others who have answered the task read what is written now.
    """

    task: Values
    comments: list[Values]
    shared: bool


class ChosenState(TypedDict):
    """The state by which the list is filtered: open, done or held."""

    state: str


class CommentsPublic(ProjectPublic):
    """``next`` is the comment before which the next page begins."""

    comments: list[Values]
    chosen: ChosenState
    next: int | None
    csrf: str


class CommentsPrivate(ProjectPrivate, WithTable):
    """The table around the comments. ``infos`` are those of their tasks, by the id of the comment."""

    infos: dict[int, object]


class CommentPages:
    """``/project/<short_name>/task/<id>/comment`` and ``/project/<short_name>/comments``."""

    def __init__(self, projects: Projects, comments: Comments, forms: Forms, views: ProjectViews) -> None:
        self._projects, self._comments, self._forms, self._views = projects, comments, forms, views

    def routes(self) -> Iterator[Route]:
        yield get(_ON_TASK, locked_out(self.form))
        yield post(_ON_TASK, locked_out(self.send), action="answer")
        yield get(_AT, locked_out(self.page))
        yield post(f"{_AT}/<int:comment_id>/done", locked_out(self.settle))
        yield post(f"{_AT}/<int:comment_id>/reopen", locked_out(self.reopen))
        yield post(f"{_AT}/<int:comment_id>/reply", locked_out(self.reply))
        yield post(f"{_AT}/<int:comment_id>/show", locked_out(self.show))
        yield post(f"{_AT}/<int:comment_id>/hide", locked_out(self.hide))
        yield post(f"{_ON_TASK}/<int:comment_id>/report", locked_out(self.report), action="answer")

    async def form(self, incoming: Incoming, short_name: str, task_id: int) -> Response:
        """The form of a comment."""
        row = await self._projects.page(short_name, incoming.who)
        return await self._form(incoming, row, task_id, self._forms.blank(incoming, *_FIELDS))

    async def send(self, incoming: Incoming, short_name: str, task_id: int) -> Response:
        """Sends the comment to the owners."""
        row = await self._projects.page(short_name, incoming.who)
        try:
            await self._comments.add(incoming.who, row["id"], task_id, *(incoming.field(name) for name in _FIELDS))
        except FormError as error:
            form = self._forms.refused(incoming, error.errors, *_FIELDS)
            return await self._form(incoming, row, task_id, form, MISTAKES)
        words = _("Your comment has been sent to the owners of the project. Their answer appears on this page.")
        return Redirect(f"/project/{quote(short_name)}/task/{task_id}/comment", words)

    async def _form(
        self, incoming: Incoming, row: ProjectPage, task_id: int, form: Form, message: Message = NO_MESSAGE
    ) -> Response:
        task = await self._comments.task(incoming.who, row["id"], task_id)
        context = await self._views.context(incoming, row, _("Comment on this task"))
        shown = {"id": task["id"], "info": task["info"]}
        read = outward_rows(await self._comments.of_reader(incoming.who, row["id"], task_id))
        shared = await self._comments.is_shared(incoming.who, row["id"], task_id)
        public = CommentPublic(**context.public, task=shown, comments=read, shared=shared, form=form, **message)
        return Page("project/comment.html", public, context.private)

    async def page(self, incoming: Incoming, short_name: str) -> Response:
        """A page of the comments, the newest first: open ones, those that are done, or that are held (``state``)."""
        row = await self._projects.owned(short_name, incoming.who)
        place, state = _LIST.place(incoming), _state_in(incoming)
        part = await self._comments.listed(row, state, place)
        listed = outward_rows([{name: one for name, one in each.items() if name != "info"} for each in part.rows])
        if incoming.query.get("csv") and not incoming.wants_json:
            return page_csv(f"{row['short_name']}_comments", _COLUMNS, listed)
        context = await self._views.context(incoming, row, _("Comments"))
        public = CommentsPublic(
            **context.public,
            comments=listed,
            chosen={"state": state},
            next=part.rows[-1]["id"] if part.next else None,
            csrf=self._forms.csrf.token(incoming),
        )
        drawn = _LIST.drawn(place, {"state": state}, part, lambda each: int(each["id"]))
        infos: dict[int, object] = {each["id"]: each["info"] for each in part.rows}
        return Page("project/comments.html", public, CommentsPrivate(**context.private, **drawn, infos=infos))

    async def reply(self, incoming: Incoming, short_name: str, comment_id: int) -> Response:
        """Answers a comment (``text``), which is done with that."""
        row = await self._projects.owned(short_name, incoming.who)
        here = f"/project/{quote(short_name)}/comments"
        try:
            await self._comments.reply(incoming.who, row, comment_id, incoming.field("text"))
        except FormError as error:
            return Redirect(here, error.errors["text"][0], status="error")
        return Redirect(here, _("Your answer has been sent."))

    async def show(self, incoming: Incoming, short_name: str, comment_id: int) -> Response:
        """Lets volunteers who have answered the task read a comment."""
        return await self._shown(incoming, short_name, comment_id, True, _("Volunteers can read the comment."))

    async def hide(self, incoming: Incoming, short_name: str, comment_id: int) -> Response:
        """Hides a comment from all volunteers but its author."""
        return await self._shown(incoming, short_name, comment_id, False, _("The comment is hidden."))

    async def _shown(self, incoming: Incoming, short_name: str, comment_id: int, shown: bool, words: str) -> Response:
        row = await self._projects.owned(short_name, incoming.who)
        await self._comments.show(row, comment_id, shown)
        return Redirect(f"/project/{quote(short_name)}/comments", words)

    async def report(self, incoming: Incoming, short_name: str, task_id: int, comment_id: int) -> Response:
        """Reports a comment to the owners."""
        row = await self._projects.page(short_name, incoming.who)
        await self._comments.report(incoming.who, row["id"], task_id, comment_id)
        words = _("The comment has been reported to the owners of the project.")
        return Redirect(f"/project/{quote(short_name)}/task/{task_id}/comment", words)

    async def settle(self, incoming: Incoming, short_name: str, comment_id: int) -> Response:
        """Marks a comment as done."""
        return await self._settled(incoming, short_name, comment_id, True, _("The comment is marked as done."))

    async def reopen(self, incoming: Incoming, short_name: str, comment_id: int) -> Response:
        """Marks a comment as open again."""
        return await self._settled(incoming, short_name, comment_id, False, _("The comment is open again."))

    async def _settled(
        self, incoming: Incoming, short_name: str, comment_id: int, settled: bool, words: str
    ) -> Response:
        row = await self._projects.owned(short_name, incoming.who)
        await self._comments.settle(row, comment_id, settled)
        return Redirect(f"/project/{quote(short_name)}/comments{'' if settled else '?state=done'}", words)


def _state_in(incoming: Incoming) -> str:
    """One of LISTS. Raises InvalidValueError."""
    state = incoming.query.get("state", "") or LISTS[0]
    if state not in LISTS:
        raise InvalidValueError(_("%(name)s must be one of %(choices)s.", name="state", choices=", ".join(LISTS)))
    return state
