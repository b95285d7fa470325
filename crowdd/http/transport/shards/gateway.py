"""One site over several databases: each request goes to the views of the database that its project lives on."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Final, Protocol

from twisted.internet.defer import ensureDeferred, gatherResults
from twisted.python.failure import Failure
from twisted.web.server import NOT_DONE_YET

from crowdd.domain.server.shards.locations import HOME, Locations
from crowdd.errors import ConflictError, CrowddError, InvalidRequestError, UnavailableError
from crowdd.http.request import Incoming
from crowdd.http.transport.gateway import Gateway, normalise_path
from crowdd.http.transport.shards.references import needs_project, of_address, of_body
from crowdd.http.transport.site import Request, RootResource

_NO_TEMPLATE: Final = "Templates cannot be made of projects on this database. Ask the operator to move the project."
_NO_PROJECT: Final = "Projects of this server live on several databases. Add project_id to the query."
_BODIES: Final = frozenset({b"POST", b"PUT", b"DELETE"})
_WITHOUT_PROJECTS: Final = frozenset(
    {"static", "uploads", "media", "health", "ready", "metrics", "robots.txt", "favicon.ico"}
)


class ShardViews(Protocol):
    """The views of a shard."""

    number: int

    def gateway(self) -> Gateway | None:
        """None while its database cannot be used."""
        ...

    async def tell_rights(self) -> None:
        """Home knows who may see the projects of this shard as of now."""
        ...


class ShardGateway(RootResource):
    """Asks ``locations`` where the project of a request lives. What names no project is answered by ``home``."""

    def __init__(self, home: Gateway, locations: Locations, shards: Sequence[ShardViews]) -> None:
        super().__init__()
        self._home, self._locations, self._shards = home, locations, shards
        self.body_limit = self._body_limit

    def warm_up(self) -> None:
        """Prepares what the first requests would wait for; for a thread, once the server serves."""
        self._home.warm_up()

    async def _body_limit(self, request: Request) -> int:
        reference = of_address(*_address(request))
        place = HOME if reference is None else await self._locations.find(reference)
        return await self._gateway(place).body_limit(request)

    def render(self, request: Request) -> bytes | int:
        words, query = _address(request)
        reference = of_address(words, query)
        if reference is None and request.method in _BODIES and words[:1] == ["api"] and request.content is not None:
            request.content.seek(0)
            reference = of_body(words, request.content.read())
            request.content.seek(0)
        if reference is None:
            if request.method in (b"GET", b"HEAD") and needs_project(words):
                return self._home.refuse(request, InvalidRequestError(_NO_PROJECT, code="project_needed"))
            if request.method not in (b"GET", b"HEAD") or words[0] in _WITHOUT_PROJECTS:
                return self._home.render(request)
            ensureDeferred(self._render_at(request, self._rights_told()))
            return NOT_DONE_YET
        place = self._locations.known(reference)
        if place is not None:
            return self._render(request, place)
        ensureDeferred(self._render_at(request, self._locations.find(reference)))
        return NOT_DONE_YET

    async def _rights_told(self) -> int:
        """Home, once it knows who may see the projects that it may show."""
        await gatherResults([ensureDeferred(shard.tell_rights()) for shard in self._shards])
        return HOME

    async def _render_at(self, request: Request, lookup: Awaitable[int]) -> None:
        """Answers the request from the database whose number ``lookup`` gives."""
        try:
            try:
                place = await lookup
                body = b"" if request.gone else self._render(request, place)
            except CrowddError as error:
                body = self._home.refuse(request, error)
            if isinstance(body, bytes) and not request.gone:
                request.deliver(body)
        except Exception:
            request.processingFailed(Failure())

    def _render(self, request: Request, place: int) -> bytes | int:
        if place != HOME and request.method == b"POST" and request.postpath[::2][:2] == [b"project", b"template"]:
            return self._home.refuse(request, ConflictError(_NO_TEMPLATE))  # the gallery is at home
        try:
            return self._gateway(place).render(request)
        except UnavailableError as error:
            return self._home.refuse(request, error)

    def _gateway(self, place: int) -> Gateway:
        if place == HOME:
            return self._home
        gateway = next((shard.gateway() for shard in self._shards if shard.number == place), None)
        if gateway is None:
            raise UnavailableError("The database of this project is not available.", retry_after=5)
        return gateway


def _address(request: Request) -> tuple[list[str], Mapping[str, str]]:
    """The segments of the path and the query."""
    normalise_path(request)
    words = [word.decode("utf-8", "replace") for word in request.postpath]
    return words, Incoming(request, "").query if b"?" in request.uri else {}
