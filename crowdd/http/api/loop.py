"""The loop over the API: newtask, userprogress, tokens for external users (interface, special endpoints)."""

from __future__ import annotations

from collections.abc import Iterator

from crowdd.domain import queries
from crowdd.domain.contributions import MOST_LEASES, MOST_TASKS, as_external, lane
from crowdd.domain.domain import Domain
from crowdd.errors import InvalidValueError, NotFoundError
from crowdd.http.answers import Answer, Data, Raw
from crowdd.http.incoming import Incoming
from crowdd.http.presenter import api_headers
from crowdd.http.routing import Route, get


class Loop:
    """Asking for tasks and seeing one's progress."""

    def __init__(self, domain: Domain) -> None:
        self._domain = domain

    def routes(self) -> Iterator[Route]:
        """Both paths of newtask work, with and without ``project/``."""
        for path in ("/api/<project_id>/newtask", "/api/project/<project_id>/newtask"):
            yield get(path, self.newtask, endpoint="newtask")
        yield get("/api/project/<reference>/userprogress", self.userprogress, endpoint="userprogress")
        yield get("/api/auth/project/<short_name>/token", self.token, endpoint="auth", key_header=False)

    async def newtask(self, incoming: Incoming, project_id: str) -> Answer:
        """``{}``, one task, or an array when ``limit`` gives several."""
        query = incoming.query
        limit = queries.number(query.get("limit", ""), "limit", 1)
        offset = queries.number(query.get("offset", ""), "offset", 0, MOST_LEASES * 1000)
        order = lane(query.get("orderby", ""), queries.flag(query.get("desc", ""), "desc"))
        project = _project_id(project_id)
        who = await self._domain.contributions.identify(
            incoming.who, project, query.get("external_uid"), incoming.header("authorization")
        )
        handout = await self._domain.contributions.next_tasks(
            who, project, min(max(limit, 1), MOST_TASKS), offset, order
        )
        headers = {} if handout.retry_in is None else {"Retry-After": str(handout.retry_in)}
        if handout.reason:
            return Data({}, headers={**headers, "X-No-Task": handout.reason})
        return Data(handout.tasks[0] if len(handout.tasks) == 1 else handout.tasks)

    async def userprogress(self, incoming: Incoming, reference: str) -> Answer:
        """``{"done": …, "total": …}`` of the requester, or of the external user that is named."""
        number = reference.isascii() and reference.isdigit() and len(reference) < 19
        who = as_external(incoming.who, incoming.query.get("external_uid"))
        return Data(await self._domain.contributions.progress(who, int(reference) if number else reference))

    async def token(self, incoming: Incoming, short_name: str) -> Answer:
        """The token itself; as a JSON string when Accept asks for JSON."""
        token = await self._domain.external.token(short_name, incoming.header("authorization"))
        if "json" in incoming.header("accept").lower():
            return Data(token)
        return Raw(token.encode(), "text/plain; charset=utf-8", headers={**api_headers(), "Cache-Control": "no-store"})


def _project_id(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise InvalidValueError("The project of newtask is named by its id.")
    if len(text) > 18:
        raise NotFoundError("404 Not Found")
    return int(text)
