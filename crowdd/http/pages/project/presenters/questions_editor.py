"""The editor of a project's questions as JSON, with the problems found, a preview, and the way on to HTML."""

from __future__ import annotations

from typing import Any, Final, TypedDict
from urllib.parse import quote

import orjson

from crowdd.domain.projects.projects import Projects
from crowdd.errors import FormError, TooLargeError
from crowdd.http.errors import message_of
from crowdd.http.html import question_page
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.pages.project.presenters import editor_texts
from crowdd.http.pages.project.presenters.previews import Preview, Previews, samples_of_questions
from crowdd.http.pages.project.views import ProjectPrivate, ProjectPublic, ProjectViews
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response
from crowdd.kinds import questions
from crowdd.kinds.questions import QUESTIONS, Problem
from crowdd.languages import _
from crowdd.languages.content_languages import language_of
from crowdd.storage.projects.rows import ProjectPage

PART: Final = "questions"
_FIRST: Final[dict[str, Any]] = {
    "version": 1,
    "steps": [
        {
            "name": "look",
            "media": [{"name": "photo", "type": "picture", "source": {"column": "picture"}}],
            "questions": [
                {
                    "name": "seen",
                    "type": "single_choice",
                    "text": "What do you see?",
                    "required": True,
                    "choices": [{"value": "something", "text": "Something"}, {"value": "nothing", "text": "Nothing"}],
                }
            ],
        }
    ],
}
"""Questions to begin with."""


class FoundProblem(TypedDict):
    """A problem of the questions that were sent: a JSON pointer and a sentence."""

    path: str
    sentence: str


class QuestionsPublic(ProjectPublic, WithForm, Message):
    """``problems`` are those of the questions that were sent."""

    problems: list[FoundProblem]


class QuestionsPrivate(ProjectPrivate):
    """``replaces``: volunteers see a page of HTML now; ``stored``: the project has questions; ``unsaved``: not these.

    ``version`` and ``language`` are what the preview's page is told besides the questions.
    """

    part: str
    preview: Preview
    replaces: bool
    stored: bool
    unsaved: bool
    version: int
    language: str


class QuestionsEditor:
    """The part ``questions`` of the page of the presenter's editor."""

    def __init__(self, projects: Projects, previews: Previews, forms: Forms, views: ProjectViews) -> None:
        self._projects, self._previews, self._forms, self._views = projects, previews, forms, views

    async def show(self, incoming: Incoming, row: ProjectPage) -> Response:
        """The stored questions, or some to begin with."""
        form = self._forms.filled(incoming, id=row["id"], questions=_text(row["info"].get(QUESTIONS) or _FIRST))
        return await self._page(incoming, row, form)

    async def save(self, incoming: Incoming, row: ProjectPage) -> Response:
        """Stores ``questions``, or with ``btn`` = ``Html`` the page that shows the stored ones in their place."""
        if incoming.field("btn") == "Html":
            return await self._as_html(incoming, row)
        problems: list[Problem] = []
        try:
            document = _parsed(incoming.field("questions"))
            problems = questions.validate(document)
            if problems:
                raise FormError({"questions": [_said(each) for each in problems[:20]]})
            await self._keep(incoming, row, document)
        except FormError as error:
            form = self._forms.refused(incoming, error.errors, "questions") | {"id": row["id"]}
            return await self._page(incoming, row, form, MISTAKES, problems)
        now = await self._projects.owned(row["short_name"], incoming.who)
        return Redirect(path_of(row["short_name"]), editor_texts.outcome(QUESTIONS, row, now))

    async def _keep(self, incoming: Incoming, row: ProjectPage, document: object) -> None:
        own = {"task_presenter": None} if row["info"].get("task_presenter") else {}
        try:
            await self._projects.tell(row, {QUESTIONS: document, **own}, incoming.who)
        except TooLargeError as error:
            raise FormError({"questions": [message_of(error)]}) from None

    async def _as_html(self, incoming: Incoming, row: ProjectPage) -> Response:
        document = question_page.document(row["info"], indented=True)
        if not document:
            return Redirect(path_of(row["short_name"]), _("Save the questions first."))
        await self._projects.tell(row, {"task_presenter": document, QUESTIONS: None}, incoming.who)
        words = _("The questions are now a page of HTML. You can change it here.")
        return Redirect(path_of(row["short_name"]).partition("?")[0], words)

    async def _page(
        self,
        incoming: Incoming,
        row: ProjectPage,
        form: Form,
        message: Message = NO_MESSAGE,
        problems: list[Problem] | None = None,
    ) -> Response:
        context = await self._views.context(incoming, row)
        found = [FoundProblem(path=each.path, sentence=each.sentence) for each in problems or []]
        public = QuestionsPublic(**context.public, form=form, problems=found, **message)
        stored = row["info"].get(QUESTIONS)
        sent = form["questions"]
        usable = _usable(sent)
        private = QuestionsPrivate(
            **context.private,
            part=PART,
            preview=await self._previews.of(incoming.who, row, samples_of_questions(usable) if usable else []),
            replaces=bool(row["info"].get("task_presenter")),
            stored=stored is not None,
            unsaved=usable != stored,
            version=_version(row),
            language=language_of(row["info"]),
        )
        return Page("project/questions_editor.html", public, private)


def path_of(short_name: str) -> str:
    """The address of this editor."""
    return f"/project/{quote(short_name)}/tasks/taskpresentereditor?part={PART}"


def is_asked(row: ProjectPage) -> bool:
    """Whether volunteers of a project see its questions."""
    return not row["info"].get("task_presenter") and row["info"].get(QUESTIONS) is not None


def _text(document: object) -> str:
    return orjson.dumps(document, option=orjson.OPT_INDENT_2).decode()


def _parsed(text: str) -> object:
    """The JSON value. Raises FormError with the line of the first mistake."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        sentence = _("Line %(line)s, column %(column)s: this is not JSON.", line=error.lineno, column=error.colno)
        raise FormError({"questions": [sentence]}) from None


def _usable(text: str) -> Any:
    try:
        document = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return document if questions.is_usable(document) else None


def _said(problem: Problem) -> str:
    if not problem.path:
        return problem.sentence
    return _("%(path)s: %(sentence)s", path=problem.path, sentence=problem.sentence)


def _version(row: ProjectPage) -> int:
    found = row["info"].get("questions_version")
    return found if isinstance(found, int) else 1
