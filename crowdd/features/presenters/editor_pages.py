"""The editor of the presenter, the tutorial and the page of results, with a preview."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Protocol
from urllib.parse import quote

from crowdd.features.presenters.frames import PresenterFrames
from crowdd.features.projects import starters
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.projects.views import ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.features.questions import editor_texts, presenter_contents
from crowdd.features.questions.previews import Preview, Previews
from crowdd.http.errors import message_of
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import FormError, NotFoundError, TooLargeError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values
from crowdd.kinds import column_roles
from crowdd.kinds.answers import ANSWERS

_AT: Final = "/project/<short_name>/tasks/taskpresentereditor"
_PARTS: Final = ("task_presenter", "tutorial", "results", editor_texts.PART)


class EditorPublic(ProjectPublic, WithForm, Message):
    """``presenters`` are the names of the templates."""

    presenters: list[str]


class OptionsPrivate(ProjectPrivate):
    """``part`` is the text that is edited: task_presenter, tutorial or results."""

    part: str


class ChoicePrivate(OptionsPrivate):
    """The question and the answers (None: the usual ones) that are asked with the starter that is chosen."""

    question: str
    answers: str | None


class EditorPrivate(OptionsPrivate, editor_texts.TextFields):
    """``unsaved`` says whether the form differs from what is stored; ``columns`` are those of the tasks."""

    unsaved: bool
    preview: Preview
    columns: list[str]


class PartEditor(Protocol):
    """The editor of a part that has one of its own: the questions."""

    async def show(self, incoming: Incoming, row: ProjectPage) -> Response: ...
    async def save(self, incoming: Incoming, row: ProjectPage) -> Response: ...


class EditorPages:
    """``/project/<short_name>/tasks/taskpresentereditor``; ``part`` names which text, or the questions."""

    def __init__(
        self,
        projects: Projects,
        previews: Previews,
        questions: PartEditor,
        frames: PresenterFrames,
        forms: Forms,
        views: ProjectViews,
    ) -> None:
        self._projects, self._previews, self._questions = projects, previews, questions
        self._frames, self._forms, self._views = frames, forms, views

    def routes(self) -> Iterator[Route]:
        yield get(_AT, locked_out(self.editor))
        yield post(_AT, locked_out(self.save))

    async def editor(self, incoming: Incoming, short_name: str) -> Response:
        """The stored text, or a starter (``template``); without either the questions, or the choice of starters.

        People come to the questions first: the choice of starters is the part ``task_presenter``, which they name.
        """
        if incoming.is_frame:
            return self._frames.preview(incoming)
        row = await self._projects.owned(short_name, incoming.who)
        part, name = _part(incoming), incoming.query.get("template", "")
        asked = part == "task_presenter" and not name and presenter_contents.is_asked(row)
        if part == editor_texts.PART or asked:
            return await self._questions.show(incoming, row)
        stored = _stored(row, part)
        if not (stored or name or "part" in incoming.query or incoming.wants_json):
            return await self._questions.show(incoming, row)
        begun = _begun(name, _columns(row) | (starters.asked(stored) or {})) if name else stored
        form = self._forms.filled(incoming, id=row["id"], editor=begun)
        choose = part == "task_presenter" and not begun
        return await self._page(incoming, row, form, choose=choose)

    async def save(self, incoming: Incoming, short_name: str) -> Response:
        """Stores the text ``editor`` with the texts of its fields. ``btn`` = ``Start`` stores a starter with them.

        ``begin`` only shows another starter, with the texts that were typed. Without ``editor`` the texts go into the
        stored document. The part ``questions`` is stored by its own editor.
        """
        row = await self._projects.owned(short_name, incoming.who)
        part = _part(incoming)
        if part == editor_texts.PART:
            return await self._questions.save(incoming, row)
        if incoming.field("btn") == "Start":
            return await self._start(incoming, row)
        if part == "task_presenter" and (name := incoming.field("begin")):
            return await self._begin(incoming, row, name)
        sent = editor_texts.sent_document(incoming, _stored(row, part))
        try:
            text = self._text(incoming, part, sent)
            await self._keep(incoming, row, part, text)
        except FormError as error:
            form = self._forms.refused(incoming, error.errors) | {"id": row["id"], "editor": sent}
            return await self._page(incoming, row, form, MISTAKES)
        now = await self._projects.owned(short_name, incoming.who)
        return Redirect(_path(short_name, part), editor_texts.outcome(part, row, now))

    def _text(self, incoming: Incoming, part: str, sent: str) -> str:
        """The text to store. Raises FormError."""
        words = part == "task_presenter" and "question" in incoming.form
        text = editor_texts.worded(incoming, sent) if words else sent
        if not text.strip() and part == "task_presenter":
            raise FormError({"editor": [_("Volunteers need questions to answer. Start with a template.")]})
        return text

    async def _begin(self, incoming: Incoming, row: ProjectPage, name: str) -> Response:
        """Shows another starter with the texts that were typed. Nothing is stored."""
        sent = editor_texts.sent_document(incoming, _stored(row, "task_presenter"))
        form = self._forms.filled(incoming, id=row["id"], editor=_begun(name, editor_texts.wanted(incoming, sent)))
        return await self._page(incoming, row, form)

    async def _keep(self, incoming: Incoming, row: ProjectPage, part: str, text: str) -> None:
        try:
            await self._projects.tell(row, {part: text, **_declared(row, part, text)}, incoming.who)
        except TooLargeError as error:
            raise FormError({"editor": [message_of(error)]}) from None

    async def _start(self, incoming: Incoming, row: ProjectPage) -> Response:
        """Stores a starter with the question and the answers of the form.

        Without a question it asks the project's description, if that is one.
        """
        document = _begun(incoming.field("template"), _columns(row))
        texts = starters.asked(document) or {}
        if "question" in incoming.form:
            try:
                document = editor_texts.worded(incoming, document)
            except FormError as error:
                form = self._forms.refused(incoming, error.errors) | {"id": row["id"], "editor": ""}
                return await self._page(incoming, row, form, MISTAKES, choose=True)
        elif question := _question(row):
            document = starters.asking(document, texts | {"question": question})
        info = {"task_presenter": document, **_declared(row, "task_presenter", document)}
        await self._projects.tell(row, info, incoming.who)
        if not row["n_tasks"]:
            return Redirect(f"/project/{quote(row['short_name'])}/tasks/import", _("Saved. Next, add your tasks."))
        return Redirect(_path(row["short_name"], "task_presenter"), _("This is what volunteers will see."))

    async def _page(
        self, incoming: Incoming, row: ProjectPage, form: Form, message: Message = NO_MESSAGE, *, choose: bool = False
    ) -> Response:
        context = await self._views.context(incoming, row)
        part = _part(incoming)
        public = EditorPublic(**context.public, form=form, presenters=list(starters.NAMES), **message)
        if choose:
            sent = editor_texts.typed(incoming) if incoming.changes_state else {}
            question, answers = sent.get("question", _question(row)), sent.get("answers")
            choice = ChoicePrivate(
                **context.private,
                part=part,
                question=question,
                answers=None if answers is None else "\n".join(answers),
            )
            return Page("project/task_presenter_options.html", public, choice)
        preview = await self._previews.of(incoming.who, row, starters.samples(form["editor"]))
        fields = editor_texts.fields(incoming, form) if part == "task_presenter" else editor_texts.NO_FIELDS
        private = EditorPrivate(
            **context.private,
            **fields,
            part=part,
            unsaved=form["editor"] != _stored(row, part),
            preview=preview,
            columns=[] if preview["invented"] else editor_texts.columns(preview["tasks"]),
        )
        return Page("project/task_presenter_editor.html", public, private)


def _declared(row: ProjectPage, part: str, document: str) -> Values:
    """The answer fields of a presenter made of a starter, unless the owner has chosen others."""
    fields = starters.answer_fields(document)
    if part != "task_presenter" or fields is None:
        return {}
    info = row["info"]
    before = starters.answer_fields(str(info.get("task_presenter") or ""))
    chosen = info.get(ANSWERS) or info.get("answer_key")
    return {} if chosen and info.get(ANSWERS) != before else {ANSWERS: fields}


def _question(row: ProjectPage) -> str:
    """The project's description, if it is a question."""
    text = row["description"].strip()
    return text if text.endswith("?") else ""


def _part(incoming: Incoming) -> str:
    part = incoming.query.get("part") or "task_presenter"
    if part not in _PARTS:
        raise NotFoundError("404 Not Found")
    return part


def _stored(row: ProjectPage, part: str) -> str:
    source = row["info"].get(part)
    return starters.current(source) if isinstance(source, str) else ""


def _columns(row: ProjectPage) -> starters.Asked:
    """The columns that a starter shows, by the roles that the owner gave to columns."""
    roles = column_roles.of(row["info"])
    by_role = {role: name for name, role in reversed(roles.items())}
    return {word: by_role[word] for word in starters.COLUMNS if word in by_role}


def _begun(name: str, words: starters.Asked) -> str:
    """A starter by its name, with the texts of the presenter before it."""
    starter = starters.begun(name, words)
    if starter is None:
        raise NotFoundError("404 Not Found")
    return starter


def _path(short_name: str, part: str) -> str:
    at = f"/project/{quote(short_name)}/tasks/taskpresentereditor"
    return at if part == "task_presenter" else f"{at}?part={part}"
