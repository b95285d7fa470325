"""The editors of the guided tutorial and the field guide with their earlier versions, and the page of the field guide.

The field guide is also served as data for the panel beside a task.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, TypedDict
from urllib.parse import quote

import attrs
import orjson

from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.projects.views import ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.features.questions import documents
from crowdd.features.questions.builder_pages import samples_of_questions
from crowdd.features.questions.guides import GuideReader, GuideVersions, ShownFieldGuide
from crowdd.features.questions.previews import Preview, Previews
from crowdd.features.questions.rows import GuideVersionSummary
from crowdd.http.errors import message_of
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.reader_language import locale_of
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, JsonResponse, Message, Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.kernel import exact_json
from crowdd.kernel.errors import ConflictError, FormError, NotFoundError, TooLargeError
from crowdd.kernel.languages import _
from crowdd.kernel.languages.content_languages import CONTENT_LANGUAGES, language_of
from crowdd.kernel.values import Values, parse_number
from crowdd.kinds.guides import FIELD_GUIDE, TUTORIAL, Guide, broken_references
from crowdd.kinds.questions import QUESTIONS
from crowdd.kinds.questions.options import Problem

_MAX_VERSION: Final = 2**31 - 1
_MAX_SAID: Final = 20  # problems above the form


@attrs.frozen
class _Editor:
    """A guide with the first part of its addresses, its title and what a new one begins with."""

    guide: Guide
    path: str
    title: str
    first: Values


_EDITORS: Final = (
    _Editor(
        TUTORIAL,
        "tutorial",
        _("Guided tutorial"),
        {"version": 1, "steps": [{"name": "welcome", "title": "Welcome"}]},
    ),
    _Editor(
        FIELD_GUIDE,
        "fieldguide",
        _("Field guide"),
        {"version": 1, "entries": [{"name": "entry_1", "title": "First entry"}]},
    ),
)


class FoundProblem(TypedDict):
    """A problem: a JSON pointer and a sentence."""

    path: str
    sentence: str


class GuidePublic(ProjectPublic, WithForm, Message):
    """``problems`` are those of the document that was sent, ``missing`` what it names and the questions lack."""

    problems: list[FoundProblem]
    missing: list[FoundProblem]
    versions: list[GuideVersionSummary]


class GuidePrivate(ProjectPrivate):
    """``part`` names the tab, ``stored`` says whether there is a guide, ``replaces`` whether HTML is shown now.

    ``editor`` is what the script of the page is told.
    """

    part: str
    here: str
    stored: bool
    unsaved: bool
    replaces: bool
    editor: Values


@attrs.frozen(eq=False)
class GuideEditorPages:
    """``/project/<short_name>/tutorial/edit`` and ``/project/<short_name>/fieldguide/edit``, for owners."""

    _projects: Projects
    _versions: GuideVersions
    _guides: GuideReader
    _previews: Previews
    _forms: Forms
    _views: ProjectViews

    def routes(self) -> Iterator[Route]:
        for editor in _EDITORS:
            yield from self._routes(editor)

    def _routes(self, editor: _Editor) -> Iterator[Route]:
        at = f"/project/<short_name>/{editor.path}"

        async def show(incoming: Incoming, short_name: str) -> Response:
            return await self._show(incoming, short_name, editor)

        async def save(incoming: Incoming, short_name: str) -> Response:
            return await self._save(incoming, short_name, editor)

        async def version(incoming: Incoming, short_name: str, version: int) -> Response:
            return await self._version(incoming, short_name, editor, version)

        yield get(f"{at}/edit", locked_out(show))
        yield post(f"{at}/edit", locked_out(save))
        yield get(f"{at}/versions/<int:version>", locked_out(version))

    async def _show(self, incoming: Incoming, short_name: str, editor: _Editor) -> Response:
        """The stored guide, or one to begin with."""
        row = await self._projects.owned(short_name, incoming.who)
        stored = row["info"].get(editor.guide.name)
        form = self._forms.filled(incoming, document=_text(stored or editor.first), version=_version(row, editor))
        return await self._page(incoming, row, editor, form)

    async def _version(self, incoming: Incoming, short_name: str, editor: _Editor, version: int) -> Response:
        """An earlier version as JSON. Raises NotFoundError for one that is not kept."""
        row = await self._projects.owned(short_name, incoming.who)
        stored_version = await self._versions.get(
            incoming.who, row["roles"], row["id"], editor.guide, min(version, _MAX_VERSION)
        )
        return JsonResponse({**stored_version, "created": stored_version["created"].isoformat()})

    async def _save(self, incoming: Incoming, short_name: str, editor: _Editor) -> Response:
        """Stores ``document``. ``btn`` = ``Preview`` only answers with the page of it, ``Delete`` removes the guide."""
        row = await self._projects.owned(short_name, incoming.who)
        if incoming.field("btn") == "Delete":
            await self._projects.tell(row, {editor.guide.name: None}, incoming.who)
            return Redirect(_path(row, editor), _("Deleted. Earlier versions are kept."))
        problems: list[Problem] = []
        try:
            document = _parsed(incoming.field("document"))
            if problems := editor.guide.validate(document):
                raise FormError({"document": [_said(each) for each in problems[:_MAX_SAID]]})
            if incoming.field("btn") == "Preview":
                return await self._preview(incoming, row, editor, document)
            await self._keep(incoming, row, editor, document)
        except FormError as error:
            return await self._refused(incoming, row, editor, error, problems)
        return Redirect(_path(row, editor), _("Saved. Volunteers see it from now on."))

    async def _keep(self, incoming: Incoming, row: ProjectPage, editor: _Editor, document: Values) -> None:
        guide = editor.guide
        changes = {guide.name: document} | ({"tutorial": None} if _replaces(row, editor) else {})
        try:
            await self._projects.tell(
                row, changes, incoming.who, {guide.version_key: parse_number(incoming.field("version"), 9)}
            )
        except TooLargeError as error:
            raise FormError({"document": [message_of(error)]}) from None
        except ConflictError as error:
            if error.code != "changed_meanwhile":
                raise
            raise FormError({"document": [_CHANGED]}) from None

    async def _refused(
        self, incoming: Incoming, row: ProjectPage, editor: _Editor, error: FormError, problems: list[Problem]
    ) -> Response:
        """The form as it was sent. After a conflict it names the version that would be replaced now."""
        row = await self._projects.owned(row["short_name"], incoming.who)
        changed = error.errors.get("document") == [_CHANGED]
        version = _version(row, editor) if changed else incoming.field("version")
        form = self._forms.refused(incoming, error.errors, "document") | {"version": version}
        return await self._page(incoming, row, editor, form, MISTAKES, problems)

    async def _preview(self, incoming: Incoming, row: ProjectPage, editor: _Editor, document: Values) -> Response:
        """The page of a tutorial, or the entries of a field guide, as volunteers would see them."""
        locale, language = locale_of(incoming), language_of(row["info"])
        if editor.guide is TUTORIAL:
            shown = await self._guides.tutorial_of(document, language, locale)
            return JsonResponse({"source": documents.render_tutorial_page(shown, row["info"])})
        return JsonResponse({"field_guide": await self._guides.field_guide_of(document, language, locale)})

    async def _page(
        self,
        incoming: Incoming,
        row: ProjectPage,
        editor: _Editor,
        form: Form,
        message: Message = NO_MESSAGE,
        problems: list[Problem] | None = None,
    ) -> Response:
        context = await self._views.context(incoming, row, editor.title)
        stored = row["info"].get(editor.guide.name)
        public = GuidePublic(
            **context.public,
            **message,
            form=form,
            problems=_found(problems or []),
            missing=_found(_missing(row["info"], editor)),
            versions=await self._versions.listed(incoming.who, row["roles"], row["id"], editor.guide),
        )
        private = GuidePrivate(
            **context.private,
            part=editor.path,
            here=_path(row, editor),
            stored=stored is not None,
            unsaved=form["document"] != _text(stored),
            replaces=_replaces(row, editor),
            editor=await self._told(incoming, row, editor),
        )
        return Page("project/guide_editor.html", public, private)

    async def _told(self, incoming: Incoming, row: ProjectPage, editor: _Editor) -> Values:
        """What the script needs: languages, and for a tutorial the questions and tasks of the project."""
        questions = row["info"].get(QUESTIONS) if editor.guide is TUTORIAL else None
        context: dict[str, Any] = {
            "guide": editor.guide.name,
            "language": language_of(row["info"]) or locale_of(incoming),
            "languages": CONTENT_LANGUAGES,
            "questions": questions,
        }
        if editor.guide is TUTORIAL:
            preview: Preview = await self._previews.of(
                incoming.who, row, samples_of_questions(questions) if questions else []
            )
            context |= {"project": preview["project"], "tasks": preview["tasks"]}
        return context


_CHANGED: Final = _(
    "Someone else has saved a newer version in the meantime. Your text is kept here. Compare both versions. If you"
    " save now, yours replaces the newer one."
)


def _path(row: ProjectPage, editor: _Editor) -> str:
    return f"/project/{quote(row['short_name'])}/{editor.path}/edit"


def _replaces(row: ProjectPage, editor: _Editor) -> bool:
    """Whether volunteers see an owner's HTML in the place of this guide."""
    return editor.guide is TUTORIAL and bool(row["info"].get("tutorial"))


def _missing(info: Values, editor: _Editor) -> list[Problem]:
    stored = info.get(editor.guide.name)
    return broken_references(stored, info.get(QUESTIONS)) if stored and editor.guide is TUTORIAL else []


def _version(row: ProjectPage, editor: _Editor) -> str:
    """The number of the stored guide, "" without one."""
    version = row["info"].get(editor.guide.version_key)
    return str(version) if isinstance(version, int) else ""


def _text(document: object) -> str:
    return orjson.dumps(document, option=orjson.OPT_INDENT_2).decode()


def _parsed(text: str) -> Any:
    """The JSON value. Raises FormError with the line of the first mistake."""
    try:
        return exact_json.loads(text)
    except orjson.JSONDecodeError as error:
        sentence = _("Line %(line)s, column %(column)s: this is not JSON.", line=error.lineno, column=error.colno)
        raise FormError({"document": [sentence]}) from None


def _said(problem: Problem) -> str:
    if not problem.path:
        return problem.sentence
    return _("%(path)s: %(sentence)s", path=problem.path, sentence=problem.sentence)


def _found(problems: list[Problem]) -> list[FoundProblem]:
    return [FoundProblem(path=each.path, sentence=each.sentence) for each in problems]


class FieldGuidePublic(ProjectPublic):
    field_guide: ShownFieldGuide


class FieldGuidePages:
    """``/project/<short_name>/fieldguide``, for everybody who may see the project."""

    def __init__(self, projects: Projects, guides: GuideReader, views: ProjectViews) -> None:
        self._projects, self._guides, self._views = projects, guides, views

    def routes(self) -> Iterator[Route]:
        yield get("/project/<short_name>/fieldguide", locked_out(self.page))

    async def page(self, incoming: Incoming, short_name: str) -> Response:
        """The field guide in the language of the reader. Raises NotFoundError for a project without one."""
        locale = locale_of(incoming)
        row = await self._projects.shown(short_name, incoming.who, locale)
        shown = await self._guides.field_guide(row["info"], locale)
        if shown is None:
            raise NotFoundError(_("This project has no field guide."))
        context = await self._views.context(incoming, row, _("Field guide"))
        return Page("project/field_guide.html", FieldGuidePublic(**context.public, field_guide=shown), context.private)
