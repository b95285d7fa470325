"""The editor of a project's questions: a builder, the same as JSON, a preview, earlier versions, the way on to HTML."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote

import orjson

from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.projects.views import ProjectPrivate, ProjectPublic, ProjectViews
from crowdd.features.questions import documents, editor_texts, questions
from crowdd.features.questions.builder_pages import Builder, FoundProblem, parse_json, samples_of_questions
from crowdd.features.questions.editor_texts import PART
from crowdd.features.questions.previews import Preview, Previews
from crowdd.features.questions.questions import NOTHING_FOUND, Review, data_page
from crowdd.features.questions.rows import QuestionVersion
from crowdd.http.errors import message_of
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.reader_language import locale_of
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response
from crowdd.kernel import exact_json
from crowdd.kernel.errors import ConflictError, FormError, NotFoundError, TooLargeError
from crowdd.kernel.languages import SOURCE, _
from crowdd.kernel.languages.content_languages import language_of
from crowdd.kernel.values import Values, parse_number
from crowdd.kinds import questions as kind_questions
from crowdd.kinds.questions import QUESTIONS, Problem

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


def _first(sentence: str) -> Values:
    """Questions to begin with, which ask what the sentence of the project asks."""
    if not sentence.rstrip().endswith(_ASKED):
        return _FIRST
    (step,) = _FIRST["steps"]
    return {**_FIRST, "steps": [{**step, "questions": [{**step["questions"][0], "text": sentence.strip()}]}]}


_ASKED: Final = ("?", "\uff1f", "\u061f", "\u037e")


class QuestionsPublic(ProjectPublic, WithForm, Message):
    """``problems``, ``advice`` and ``effects`` (what saving would mean) are those of the questions that were sent."""

    problems: list[FoundProblem]
    advice: list[FoundProblem]
    effects: list[str]


class QuestionsPrivate(ProjectPrivate):
    """``replaces``: volunteers see a page of HTML now; ``stored``: the project has questions; ``unsaved``: not these.

    ``version`` and ``language`` are what the preview's page is told besides the questions, ``builder`` what the builder
    is told. ``versions`` are those that are kept, ``shown`` the number of the earlier one in the form, or 0.
    """

    part: str
    preview: Preview
    replaces: bool
    stored: bool
    unsaved: bool
    version: int
    language: str
    builder: Values
    versions: list[QuestionVersion]
    shown: int
    sent: bool


class QuestionsEditor:
    """The part ``questions`` of the page of the presenter's editor."""

    def __init__(
        self, projects: Projects, previews: Previews, builder: Builder, forms: Forms, views: ProjectViews
    ) -> None:
        self._projects, self._previews, self._builder = projects, previews, builder
        self._forms, self._views = forms, views

    async def show(self, incoming: Incoming, row: ProjectPage) -> Response:
        """The stored questions, those of the earlier ``version``, or some to begin with."""
        shown = await self._earlier(incoming, row)
        shown_questions = shown or row["info"].get(QUESTIONS) or _first(row["description"])
        form = self._filled(incoming, row, questions=_text(shown_questions))
        return await self._page(incoming, row, form)

    async def _earlier(self, incoming: Incoming, row: ProjectPage) -> Any:
        """The questions of the version that the address names, None without one. Raises NotFoundError."""
        number = _number(incoming)
        if not number:
            return None
        earlier_questions = await self._builder.reviews.questions_of(row, number, incoming.who)
        if earlier_questions is None:
            raise NotFoundError("404 Not Found")
        return earlier_questions

    def _filled(self, incoming: Incoming, row: ProjectPage, **values: object) -> Form:
        return self._forms.filled(incoming, id=row["id"], base=questions.describe_state(row["info"]), **values)

    async def save(self, incoming: Incoming, row: ProjectPage) -> Response:
        """Stores ``questions``; with ``onward``, tasks come next. ``btn`` = ``Check`` only checks them.

        ``btn`` = ``Html`` stores the page that shows the stored questions in their place.
        """
        if incoming.field("btn") == "Html":
            return await self._as_html(incoming, row)
        if incoming.field("btn") == "Check":
            return await self._checked(incoming, row)
        problems: list[Problem] = []
        try:
            document = parse_json(incoming.field("questions"))
            problems = kind_questions.validate(document)
            if problems:
                raise FormError({"questions": [_said(each) for each in problems[:20]]})
            await self._keep(incoming, row, document)
        except FormError as error:
            row = await self._projects.owned(row["short_name"], incoming.who)
            form = self._filled(incoming, row, questions=incoming.field("questions")) | {"errors": error.errors}
            return await self._page(incoming, row, form, MISTAKES, Review(problems, [], None))
        now = await self._projects.owned(row["short_name"], incoming.who)
        outcome = editor_texts.outcome(QUESTIONS, row, now)
        if incoming.field("onward"):
            return Redirect(f"/project/{quote(row['short_name'])}/{data_page(now['info'])}", outcome)
        return Redirect(path_of(row["short_name"]), outcome)

    async def _checked(self, incoming: Incoming, row: ProjectPage) -> Response:
        form = self._filled(incoming, row, questions=incoming.field("questions"))
        try:
            review = await self._builder.reviews.review(row, parse_json(form["questions"]), incoming.who)
        except FormError as error:
            return await self._page(incoming, row, form | {"errors": error.errors}, MISTAKES)
        if review.problems:
            form |= {"errors": {"questions": [_said(each) for each in review.problems[:20]]}}
            return await self._page(incoming, row, form, MISTAKES, review)
        message = Message(flash=_("The questions have no problems. Nothing is saved yet."), status="success")
        return await self._page(incoming, row, form, message, review)

    async def _keep(self, incoming: Incoming, row: ProjectPage, document: object) -> None:
        own = {"task_presenter": None} if row["info"].get("task_presenter") else {}
        base, now = incoming.field("base"), questions.shown_info(row["info"])
        try:
            if base and base != questions.describe_state(row["info"]) and document != now[QUESTIONS]:
                raise ConflictError("base")
            await self._projects.tell(row, {QUESTIONS: document, **own}, incoming.who, now if base else {})
        except TooLargeError as error:
            raise FormError({"questions": [message_of(error)]}) from None
        except ConflictError:
            sentence = _(
                "Other questions have been saved in the meantime. Yours are kept here: save again to replace the"
                " others."
            )
            raise FormError({"questions": [sentence]}) from None

    async def _as_html(self, incoming: Incoming, row: ProjectPage) -> Response:
        document = documents.render_question_page(row["info"], indented=True)
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
        review: Review | None = None,
    ) -> Response:
        context = await self._views.context(incoming, row)
        locale = SOURCE if incoming.wants_json else locale_of(incoming)
        findings = self._builder.checked(review or NOTHING_FOUND, locale)
        public = QuestionsPublic(**context.public, form=form, **findings, **message)
        columns = await self._builder.reviews.columns(row, incoming.who)
        stored = row["info"].get(QUESTIONS)
        sent = form["questions"]
        usable = _usable(sent)
        private = QuestionsPrivate(
            **context.private,
            part=PART,
            preview=await self._previews.of(incoming.who, row, samples_of_questions(usable) if usable else []),
            replaces=bool(row["info"].get("task_presenter")),
            stored=stored is not None,
            unsaved=usable != stored and (stored is not None or incoming.changes_state),
            version=_version(row),
            language=language_of(row["info"]),
            builder=self._builder.told(locale_of(incoming), columns, row["n_task_runs"]),
            versions=await self._builder.reviews.versions(row, incoming.who),
            shown=0 if incoming.changes_state else _number(incoming),
            sent=incoming.changes_state,
        )
        return Page("project/questions_editor.html", public, private)


def path_of(short_name: str) -> str:
    """The address of this editor."""
    return f"/project/{quote(short_name)}/tasks/taskpresentereditor?part={PART}"


def _text(document: object) -> str:
    return orjson.dumps(document, option=orjson.OPT_INDENT_2).decode()


def _usable(text: str) -> Any:
    try:
        document = exact_json.loads(text)
    except orjson.JSONDecodeError:
        return None
    return document if kind_questions.is_usable(document) else None


def _said(problem: Problem) -> str:
    if not problem.path:
        return problem.sentence
    return _("%(path)s: %(sentence)s", path=problem.path, sentence=problem.sentence)


def _number(incoming: Incoming) -> int:
    """The version that the address names, 0 for none."""
    return parse_number(incoming.query.get("version", ""), 9) or 0


def _version(row: ProjectPage) -> int:
    version = row["info"].get("questions_version")
    return version if isinstance(version, int) else 1
