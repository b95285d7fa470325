"""PUT of an array of results (interface: result-array)."""

from __future__ import annotations

from collections.abc import Iterator

from crowdd.core.records.records import MAX_ROWS
from crowdd.features.results.results import Results
from crowdd.http import queries
from crowdd.http.api import schemas
from crowdd.http.api.operations import PASSWORD
from crowdd.http.operation import JSON, Audience, Operation, Schema, array_of, reference
from crowdd.http.request import Incoming
from crowdd.http.responses import JsonResponse, Response
from crowdd.http.routing import Route
from crowdd.kernel import errors
from crowdd.kernel.errors import InvalidRequestError
from crowdd.kinds.result import RESULT

_ABOUT = (
    f"For owners of the project and administrators. The array has at most {MAX_ROWS:,} results of any of your projects,"
    " each once. All are changed, or none if one is refused; item in the error is then its index. The response is an"
    " array in the same order. Besides info, an element may contain read-only attributes with their stored values;"
    " last_version: true refuses a result that has a later version. Repeating the request changes nothing, so no"
    " Idempotency-Key is needed. Two requests at the same time take effect one after the other, each as a whole."
)


def _element() -> Schema:
    """An element of the array: a body of PUT of one result that names it."""
    one = schemas.change(RESULT)
    number = {**RESULT.field("id").type.schema(), "minimum": 1, "description": "Id of the result."}
    return {**one, "properties": {**one["properties"], "id": number}, "required": ["id", "info"]}


_DOC = Operation(
    name="change_results",
    section=RESULT.name,
    summary="Change many results",
    about=_ABOUT,
    parameters=(PASSWORD,),
    bodies={JSON: {"type": "array", "items": _element(), "minItems": 1, "maxItems": MAX_ROWS}},
    answer=array_of(reference(schemas.answer_name(RESULT))),
    refusals=(errors.AnonymousError, errors.NotFoundError, errors.InvalidRequestError, errors.TooLargeError),
    audience=Audience.SIGNED_IN,
)


class ResultsApi:
    """Changes of many results at once."""

    def __init__(self, results: Results) -> None:
        self._results = results

    def routes(self) -> Iterator[Route]:
        """PUT /api/result."""
        yield Route(
            "PUT", "/api/result", self.fill, endpoint="result", operation=_DOC, by_role=True, admits=self.admits
        )

    async def admits(self, incoming: Incoming) -> None:
        """Passes for those who may change a result that the body names (``Route.admits``)."""
        await self._results.require_changer(incoming.who, incoming.numbers_after("id"))

    async def fill(self, incoming: Incoming) -> Response:
        """An array of results as they are now."""
        queries.require_known(RESULT, incoming.query)
        if incoming.header("if-match") not in ("", "*"):
            hint = "Leave it out, send last_version: true in the elements, or change the results one by one."
            raise InvalidRequestError("If-Match cannot be used with an array.", hint=hint)
        return JsonResponse(await self._results.fill(incoming.who, incoming.json_body()))
