"""The answer fields of a project: what is declared, and what the newest answers contain."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import quote

import orjson

from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.projects.views import ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.features.questions.answer_fields import AnswerFields, AnswerOverview, FieldFit, declarations
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.kernel import exact_json
from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values
from crowdd.kinds.answers import TYPES, Suggestion, value_at

_AT: Final = "/project/<short_name>/answerfields"


class AnswerFieldsPublic(ProjectPublic, WithForm, Message):
    """``fields`` with how many of the newest ``n_looked_at`` answers fit, and ``suggestions``.

    ``from_questions``: the fields follow from the questions and cannot be changed here.
    """

    fields: list[Values]
    suggestions: list[Values]
    n_looked_at: int
    from_questions: bool
    types: dict[str, str]


class AnswerFieldPages:
    """``/project/<short_name>/answerfields``."""

    def __init__(self, projects: Projects, fields: AnswerFields, forms: Forms, views: ProjectViews) -> None:
        self._projects, self._fields, self._forms, self._views = projects, fields, forms, views

    def routes(self) -> Iterator[Route]:
        yield get(_AT, locked_out(self.page))
        yield post(_AT, locked_out(self.save))
        yield post(f"{_AT}/use", locked_out(self.use))

    async def page(self, incoming: Incoming, short_name: str) -> Response:
        """The declared fields, and what could be declared."""
        row = await self._projects.owned(short_name, incoming.who)
        return await self._page(incoming, row, self._forms.filled(incoming, fields=_text(row)))

    async def save(self, incoming: Incoming, short_name: str) -> Response:
        """Declares the fields of the form: a list as JSON, "" for none."""
        row = await self._projects.owned(short_name, incoming.who)
        try:
            await self._fields.save(row, _sent(incoming), incoming.who)
        except InvalidValueError as error:
            text = incoming.form.get("fields")
            shown = text if isinstance(text, str) else orjson.dumps(text).decode()
            form = {"fields": shown, "errors": {"fields": [error.args[0]]}, "csrf": self._forms.csrf.token(incoming)}
            return await self._page(incoming, row, form, MISTAKES)
        return Redirect(f"/project/{quote(short_name)}/answerfields", _("What answers contain has been saved."))

    async def use(self, incoming: Incoming, short_name: str) -> Response:
        """Declares what the newest answers have at a place (``at``) as the first field."""
        row = await self._projects.owned(short_name, incoming.who)
        if not await self._fields.use(row, incoming.field("at"), incoming.who):
            raise InvalidValueError(_("None of the newest answers has a value there. Reload the page."))
        return Redirect(f"/project/{quote(short_name)}/answerfields", _("What answers contain has been saved."))

    async def _page(self, incoming: Incoming, row: ProjectPage, form: Form, message: Message = NO_MESSAGE) -> Response:
        context = await self._views.context(incoming, row, _("What answers contain"))
        overview = await self._fields.overview(row, incoming.who)
        public = AnswerFieldsPublic(
            **context.public,
            **message,
            form=form,
            fields=_fields(overview, declarations(row["info"])),
            suggestions=[_suggested(one) for one in overview.suggestions],
            n_looked_at=overview.n_looked_at,
            from_questions=overview.from_questions,
            types={name: field_type.doc for name, field_type in TYPES.items()},
        )
        private: ProjectPrivate = context.private
        return Page("project/answer_fields.html", public, private)


def _text(row: ProjectPage) -> str:
    fields = declarations(row["info"])
    return orjson.dumps(fields, option=orjson.OPT_INDENT_2).decode() if fields else ""


def _sent(incoming: Incoming) -> Any:
    """The fields of a form, as a list. Raises InvalidValueError."""
    fields = incoming.form.get("fields")
    if not isinstance(fields, str):
        return fields
    if not fields.strip():
        return None
    try:
        return exact_json.loads(fields)
    except orjson.JSONDecodeError as error:
        words = _("This is not JSON (line %(line)s, column %(column)s).", line=error.lineno, column=error.colno)
        raise InvalidValueError(words) from None


def _fields(overview: AnswerOverview, declared: list[Values]) -> list[Values]:
    return [{**each, **_fit(fit)} for each, fit in zip(declared, overview.fits, strict=True)]


def _fit(fit: FieldFit) -> Values:
    examples = [
        {"id": each["id"], "task_id": each["task_id"], "value": _shown(value_at(each["info"], fit.field.path))}
        for each in fit.examples
    ]
    return {"n_fitting": fit.n_fitting, "unfit": examples}


def _shown(value: Any) -> str | None:
    """A value as JSON, shortened; None where the answer has none."""
    try:
        return orjson.dumps(value).decode()[:200]
    except TypeError:
        return None


def _suggested(one: Suggestion) -> Values:
    return {**one.declaration(), "n_present": one.n_present, "n_fitting": one.n_fitting}
