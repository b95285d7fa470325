"""What the builder of questions needs besides the questions, and what it is told while somebody types."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, TypedDict

import orjson

from crowdd import exact_json
from crowdd.domain.projects.projects import Projects
from crowdd.domain.projects.questions.reviews import QuestionReviews, Review
from crowdd.errors import FormError
from crowdd.http.html.locales import locale_of
from crowdd.http.html.presenter import api_headers
from crowdd.http.pages.project.presenters.question_effects import sentences
from crowdd.http.request import Incoming
from crowdd.http.responses import BytesResponse, Response
from crowdd.http.routing import Route, post
from crowdd.kinds.questions import MAX_BYTES, Problem
from crowdd.kinds.questions.advice import Columns
from crowdd.kinds.questions.declarations import declarations
from crowdd.languages import NAMES, SOURCE, Languages, _
from crowdd.languages.cldr import NATIVE_NAMES
from crowdd.values import Values

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
        effects = sentences(review.effects) if review.effects else []
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
        """``problems``, ``advice`` and ``effects`` of ``questions``, in the language of the requester."""
        row = await self._projects.owned(short_name, incoming.who)
        try:
            document = parsed(incoming.field("questions"))
        except FormError as error:
            review = Review([Problem("", sentence) for sentence in error.errors["questions"]], [], None)
        else:
            review = await self._builder.reviews.review(row, document, incoming.who)
        body = orjson.dumps(self._builder.checked(review, locale_of(incoming)))
        return BytesResponse(body, "application/json", headers={**api_headers(), "Cache-Control": "no-store"})


def parsed(text: str) -> Any:
    """The JSON value of a text. Raises FormError with the line of the first mistake."""
    if len(text) > _ROOM * MAX_BYTES:
        words = _("The questions may have at most %(max)s bytes (got %(size)s).", max=MAX_BYTES, size=len(text))
        raise FormError({"questions": [words]})
    try:
        return exact_json.loads(text)
    except orjson.JSONDecodeError as error:
        sentence = _("Line %(line)s, column %(column)s: this is not JSON.", line=error.lineno, column=error.colno)
        raise FormError({"questions": [sentence]}) from None
