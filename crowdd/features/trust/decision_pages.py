"""What the page of a reviewed task sends: a decision about all questions, and its withdrawal."""

from __future__ import annotations

from collections.abc import Awaitable, Iterator
from typing import Final

import attrs
import orjson

from crowdd.features.projects.projects import Projects
from crowdd.features.projects.views import locked_out
from crowdd.features.trust.review import ReviewQueue
from crowdd.features.trust.review_pages import chosen_reviews, onward, review_path
from crowdd.features.trust.whole_answers import WholeAnswers
from crowdd.http import queries
from crowdd.http.request import Incoming
from crowdd.http.responses import Redirect, Response
from crowdd.http.routing import Route, post
from crowdd.kernel import exact_json
from crowdd.kernel.errors import InvalidValueError, PreconditionError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values

_AT: Final = "/project/<short_name>/review/<int:task_id>"
_WORDS: Final = {
    "decided": _("The task is decided."),
    "same": _("The task was decided like this already."),
    "withdrawn": _("The decision is withdrawn. The result says what the answers say."),
}


@attrs.frozen(eq=False)
class DecisionPages:
    """``/project/<short_name>/review/<task_id>/answer`` and ``/withdraw``."""

    _projects: Projects
    _reviews: ReviewQueue
    _whole_answers: WholeAnswers

    def routes(self) -> Iterator[Route]:
        yield post(f"{_AT}/answer", locked_out(self.decide))
        yield post(f"{_AT}/withdraw", locked_out(self.withdraw))

    async def decide(self, incoming: Incoming, short_name: str, task_id: int) -> Response:
        """Decides the task of ``result_id`` by ``info``, an answer to all questions as JSON; then the next comes."""
        row = await self._projects.page(short_name, incoming.who)
        self._reviews.require(incoming.who, row)
        try:
            answer = exact_json.loads(incoming.field("info"))
        except orjson.JSONDecodeError as error:
            raise InvalidValueError(_("The answer must be an object with an answer to each question.")) from error
        seen = _seen(incoming)
        next_path = await onward(self._reviews, incoming, row, seen)
        deciding = self._whole_answers.decide(incoming.who, seen, answer)
        return await _redirect(deciding, _here(incoming, short_name, task_id), next_path or _here(incoming, short_name))

    async def withdraw(self, incoming: Incoming, short_name: str, task_id: int) -> Response:
        """Withdraws what was decided of the task of ``result_id``."""
        await self._projects.page(short_name, incoming.who)
        here = _here(incoming, short_name, task_id)
        return await _redirect(self._whole_answers.withdraw(incoming.who, _seen(incoming)), here, here)


def _seen(incoming: Incoming) -> int:
    return queries.parse_number(incoming.field("result_id"), "result_id", 0)


def _here(incoming: Incoming, short_name: str, task_id: int | None = None) -> str:
    return review_path(short_name, task_id, chosen_reviews(incoming))


async def _redirect(changing: Awaitable[Values], here: str, onward: str) -> Response:
    """Onward with what was done, or back with what stands against it."""
    try:
        done = await changing
    except PreconditionError as error:
        return Redirect(here, error.args[0], "warning")
    return Redirect(onward, _WORDS[done["state"]], more=done)
