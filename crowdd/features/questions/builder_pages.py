"""What the question builder needs beside the questions: checks while somebody types, samples, and effects of changes.

Effects are sentences about what changed questions mean for answers that exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, Final, TypedDict

import orjson

from crowdd.features.projects import starters
from crowdd.features.projects.projects import Projects
from crowdd.features.questions.documents import suggested_data
from crowdd.features.questions.questions import Effects, QuestionReviews, Review
from crowdd.http.html.frames import api_headers
from crowdd.http.reader_language import locale_of
from crowdd.http.request import Incoming
from crowdd.http.responses import BytesResponse, Response
from crowdd.http.routing import Route, post
from crowdd.kernel import exact_json
from crowdd.kernel.errors import FormError
from crowdd.kernel.languages import NAMES, SOURCE, Languages, _, ngettext
from crowdd.kernel.languages.cldr import NATIVE_NAMES
from crowdd.kernel.values import Values
from crowdd.kinds.questions import MAX_BYTES, Problem
from crowdd.kinds.questions.changes import Change, Fit
from crowdd.kinds.questions.declarations import declarations
from crowdd.kinds.questions.question_type import Columns

_MAX_NAMED: Final = 5  # values of choices


def describe_effects(effects: Effects) -> list[str]:
    """What the change means, for the owner to read before saving."""
    return [*_as_a_whole(effects), *(_changed(change, effects) for change in effects.changes), *_afterwards(effects)]


def _as_a_whole(effects: Effects) -> Iterator[str]:
    yield ngettext(
        "The project has one answer. It stays as it is.",
        "The project has %(num)s answers. They stay as they are.",
        effects.n_answers,
    )
    yield _("The questions become version %(version)s. New answers record it.", version=effects.version)


def _changed(change: Change, effects: Effects) -> str:
    fit = next((fit for fit in effects.fits if fit.name == change.name), None)
    description = _what(change)
    return (
        description
        if change.how in ("new", "words")
        else _("%(what)s %(fit)s", what=description, fit=_fit(fit, effects))
    )


def _what(change: Change) -> str:
    name = change.name
    if change.how == "new":
        return _("“%(name)s” is new: existing answers have nothing for it.", name=name)
    if change.how == "removed":
        return _("“%(name)s” is removed. Its answers stay stored.", name=name)
    if change.how == "type":
        return _("The type of “%(name)s” has changed.", name=name)
    if change.how == "choices":
        gone = ", ".join(change.gone[:_MAX_NAMED]) + ("…" if len(change.gone) > _MAX_NAMED else "")
        return _("“%(name)s” no longer has %(values)s.", name=name, values=gone)
    if change.how == "options":
        return _("The settings of “%(name)s” have changed.", name=name)
    return _("Only the wording of “%(name)s” has changed: all its answers still fit.", name=name)


def _fit(fit: Fit | None, effects: Effects) -> str:
    looked = effects.n_looked_at
    if fit is None:
        return ngettext(
            "The last answer has no value for it.", "None of the last %(num)s answers has a value for it.", looked
        )
    if not fit.unfit:
        return ngettext(
            "Of the last %(total)s answers, one has a value for it, which still fits.",
            "Of the last %(total)s answers, %(num)s have a value for it, and all of these still fit.",
            fit.given,
            total=looked,
        )
    return ngettext(
        "Of the last %(total)s answers, one has a value for it; %(unfit)s no longer fits.",
        "Of the last %(total)s answers, %(num)s have a value for it; %(unfit)s of these no longer fit.",
        fit.given,
        total=looked,
        unfit=fit.unfit,
    )


def _afterwards(effects: Effects) -> Iterator[str]:
    before, after = effects.compared
    if before != after:
        yield _("Agreement is then measured by “%(after)s” instead of “%(before)s”.", before=before, after=after)
    if effects.n_completed:
        yield ngettext(
            "The completed task stays completed. Nothing is asked again.",
            "The %(num)s completed tasks stay completed. Nothing is asked again.",
            effects.n_completed,
        )


_ROOM = 4  # how much longer than the document its text may be: it is indented


class FoundProblem(TypedDict):
    """A problem of the questions that were sent: a JSON pointer and a sentence."""

    path: str
    sentence: str


class Checked(TypedDict):
    """``problems`` prevent saving, ``advice`` does not; ``effects`` say what saving means for answers that exist."""

    problems: list[FoundProblem]
    advice: list[FoundProblem]
    effects: list[str]


class Builder:
    """Makes what the builder is told."""

    def __init__(self, reviews: QuestionReviews, languages: Languages) -> None:
        self.reviews, self._languages = reviews, languages

    def told(self, locale: str, columns: Columns, n_answers: int) -> Values:
        """The declared types, the columns of tasks, and the languages that texts can have."""
        return {
            **declarations(partial(self._languages.say, locale=locale)),
            "columns": list(columns.filled),
            "n_answers": n_answers,
            "languages": dict(NATIVE_NAMES),
            "locales": list(NAMES),
        }

    def checked(self, review: Review, locale: str = SOURCE) -> Checked:
        """A review in a language."""
        effects = describe_effects(review.effects) if review.effects else []
        return Checked(
            problems=list(self._found(review.problems, locale)),
            advice=list(self._found(review.advice, locale)),
            effects=[self._languages.say(sentence, locale) for sentence in effects],
        )

    def _found(self, problems: Iterable[Problem], locale: str) -> Iterator[FoundProblem]:
        for problem in problems:
            yield FoundProblem(path=problem.path, sentence=self._languages.say(problem.sentence, locale))


class QuestionCheckPages:
    """``/project/<short_name>/tasks/taskpresentereditor/check``: checks questions. Nothing is stored."""

    def __init__(self, projects: Projects, builder: Builder) -> None:
        self._projects, self._builder = projects, builder

    def routes(self) -> Iterator[Route]:
        yield post("/project/<short_name>/tasks/taskpresentereditor/check", self.check)

    async def check(self, incoming: Incoming, short_name: str) -> Response:
        """``problems``, ``advice`` and ``effects`` of ``questions``, and what the preview needs to show suggestions."""
        row = await self._projects.owned(short_name, incoming.who)
        suggested = None
        try:
            document = parse_json(incoming.field("questions"))
        except FormError as error:
            review = Review([Problem("", sentence) for sentence in error.errors["questions"]], [], None)
        else:
            review = await self._builder.reviews.review(row, document, incoming.who)
            suggested = None if review.problems else suggested_data(document)
        more = {"suggested": suggested} if suggested else {}
        body = orjson.dumps({**self._builder.checked(review, locale_of(incoming)), **more})
        return BytesResponse(body, "application/json", headers={**api_headers(), "Cache-Control": "no-store"})


def parse_json(text: str) -> Any:
    """The JSON value of a text. Raises FormError with the line of the first mistake."""
    if len(text) > _ROOM * MAX_BYTES:
        words = _("The questions may have at most %(max)s bytes (got %(size)s).", max=MAX_BYTES, size=len(text))
        raise FormError({"questions": [words]})
    try:
        return exact_json.loads(text)
    except orjson.JSONDecodeError as error:
        sentence = _("Line %(line)s, column %(column)s: this is not JSON.", line=error.lineno, column=error.colno)
        raise FormError({"questions": [sentence]}) from None


def samples_of_questions(document: Any) -> list[dict[str, str]]:
    """What tasks may look like for a valid list of questions: pictures and texts in the columns that it names."""
    texts = [sample["text"] for sample in starters.samples("")]
    rows: list[dict[str, str]] = []
    for number, words in enumerate(texts, 1):
        row: dict[str, str] = {}
        for medium in (medium for step in document["steps"] for medium in step.get("media", [])):
            value = words if medium["type"] == "text" else f"/static/img/sample-{number}.svg"
            source = medium.get("source", [])
            for each in source if isinstance(source, list) else [source]:
                if "column" in each:
                    row[each["column"]] = value
        rows.append(row)
    return rows
