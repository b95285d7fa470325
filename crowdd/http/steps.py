"""What each request passes between its route and its handler, as steps of one signature.

A step refuses the request, answers it, or goes on to the next one. ``crowdd.web`` lists them in their order. Of two
faults a client is told the one that comes first, so steps that refuse keep their places.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial, reduce
from typing import Final

import attrs
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater

from crowdd.core import recent_proof
from crowdd.core.records import rights
from crowdd.http.auth.csrf import Csrf
from crowdd.http.edge.fair_share import PAGES, CostlyRequests, FairShare, PageTurns
from crowdd.http.edge.headers import set_headers
from crowdd.http.edge.rate_limits import (
    BROWSER,
    KEY,
    NETWORK,
    LimitedClient,
    RateLimit,
    RateLimitStatus,
    SharedWindow,
    Window,
    count_hit,
)
from crowdd.http.html.frames import is_public, preflight_headers
from crowdd.http.interfaces import Identity, Projects
from crowdd.http.operation import Audience
from crowdd.http.page_cache import PageCache
from crowdd.http.request import MAX_PARSED_AT_ONCE, Incoming
from crowdd.http.responses import JsonResponse, NotModified, Response, SharedPage
from crowdd.http.routing import NO_ROUTE, Area, Methods, Names, Route, Shared
from crowdd.kernel.concurrency.throttling import MAX_WAITING, Turns
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.errors import (
    AnonymousError,
    CrowddError,
    ForbiddenError,
    MethodError,
    NotFoundError,
    TooLargeError,
    TooManyRequestsError,
    UnavailableError,
)
from crowdd.kernel.languages import _
from crowdd.kernel.requester import network
from crowdd.kernel.stalls import StallWatch
from crowdd.kernel.values import id_or_name
from crowdd.kinds import KINDS

LONG_BODY: Final = 16_384  # bytes
REFUSAL_SECONDS: Final = 0.025
MAX_DELAY_SECONDS: Final = 10.0


@attrs.define(eq=False)
class Ask:
    """A request on its way. ``route`` is NO_ROUTE where its address, or its method there, has none."""

    incoming: Incoming
    methods: Methods  # the routes of the address
    route: Route
    names: Names  # in the address
    shared: Shared | None = None  # the visitors who get the same page, if the requester is one of them


Next = Callable[[Ask], Awaitable[Response]]


class Step:
    """One thing on the way of a request."""

    def concerns(self, route: Route) -> bool:
        """Whether requests for this route take the step."""
        return True

    def take(self, ask: Ask, go_on: Next) -> Awaitable[Response]:
        """Answer, or go on with what follows. Raises a CrowddError to refuse."""
        raise NotImplementedError


def chains_of(routes: Iterable[Route], steps: Sequence[Step]) -> dict[tuple[str, str], Next]:
    """By path and method of a route: the steps that concern it, one into the other, and its handler at their end."""
    chains: dict[tuple[Step, ...], Next] = {}
    handle: Next = _handle
    by_route = {}
    for route in routes:
        concerned = tuple(step for step in steps if step.concerns(route))
        if concerned not in chains:
            chains[concerned] = reduce(_before, reversed(concerned), handle)
        by_route[route.path, route.method] = chains[concerned]
    return by_route


def _before(go_on: Next, step: Step) -> Next:
    return partial(step.take, go_on=go_on)


def _handle(ask: Ask) -> Awaitable[Response]:
    return ask.route.handler(ask.incoming, **ask.names)


async def project_in_path(ask: Ask, projects: Projects) -> int | None:
    """The id of the one project that the path is about: what the query says must not decide what a token may write."""
    if "object_id" in ask.names:
        return await _project_of_object(ask, projects)
    reference = _reference(ask.names)
    return reference if isinstance(reference, int) else await projects.id_of(reference or "")


async def project_named(ask: Ask, projects: Projects) -> int | str | None:
    """The id or short name of the one project that an address is about: in the path, by an object, in the query."""
    if "object_id" in ask.names:
        return await _project_of_object(ask, projects)
    if "container" in ask.names:  # of uploads
        return id_or_name(str(ask.names["container"]).removeprefix("project-"))
    reference, query = _reference(ask.names), ask.incoming.query
    if reference is None and (in_query := query.get("project_id", query.get("short_name"))) is not None:
        reference = id_or_name(in_query)
    return reference


async def _project_of_object(ask: Ask, projects: Projects) -> int | None:
    return await projects.of_object(KINDS[ask.incoming.path.split("/")[2]], ask.names["object_id"])


def _reference(names: Names) -> int | str | None:
    """What the names in a path call a project. Digits are a short name where a short name stands."""
    if "short_name" in names:
        return str(names["short_name"])
    reference = names.get("project_id", names.get("reference"))
    return None if reference is None else id_or_name(str(reference))


@attrs.define(eq=False)
class NoteAddress(Step):
    """Note the address for the log of what held others up."""

    stalls: StallWatch

    def take(self, ask: Ask, go_on: Next) -> Awaitable[Response]:
        self.stalls.note(ask.incoming.request.method, ask.incoming.request.route)
        return go_on(ask)


@attrs.define(eq=False)
class WaitForShare(Step):
    """Wait while as many requests of the network are under way as it may have."""

    share: FairShare

    async def take(self, ask: Ask, go_on: Next) -> Response:
        place = network(ask.incoming.address)
        if not self.share.begin(place):
            await self.share.wait(place)
        try:
            return await go_on(ask)
        finally:
            self.share.leave(place)


@attrs.define(eq=False)
class DelayRefusals(Step):
    """Refuse long bodies one after the other, with a pause: a flood of them takes little from others.

    Their bodies stay in memory meanwhile, so that only some wait, and others are refused at once.
    """

    clock: IReactorTime
    turns: Turns = attrs.field()

    @turns.default
    def _one_after_the_other(self) -> Turns:
        return Turns(self.clock, 1, MAX_DELAY_SECONDS, max_waiting_of_one=MAX_WAITING)

    def concerns(self, route: Route) -> bool:
        return route.changes_state or route is NO_ROUTE

    async def take(self, ask: Ask, go_on: Next) -> Response:
        try:
            return await go_on(ask)
        except CrowddError:
            if ask.incoming.body_length > LONG_BODY:
                with suppress(UnavailableError):  # no place, or no turn in time: what is wrong is told all the same
                    await self.turns.run("", lambda: deferLater(self.clock, REFUSAL_SECONDS))
            raise


@attrs.define(eq=False)
class SendNotModified(Step):
    """Answer 304 to visitors who have the kept page already, before it is looked up who asks."""

    page_cache: PageCache

    def concerns(self, route: Route) -> bool:
        return route.is_page and route.shared is not None

    async def take(self, ask: Ask, go_on: Next) -> Response:
        known = await self.page_cache.known(ask.incoming, ask.route.shared) if ask.incoming.method == "GET" else None
        return known or await go_on(ask)


@attrs.define(eq=False)
class WaitForPageTurn(Step):
    """Send a page, once it is made, when its turn comes; requests for a task or with an answer go before."""

    turns: PageTurns

    def concerns(self, route: Route) -> bool:
        return route.is_page or (route.assigns and route.area is Area.API)

    def take(self, ask: Ask, go_on: Next) -> Awaitable[Response]:
        if ask.incoming.method == "HEAD":
            return go_on(ask)
        return self._page(ask, go_on) if ask.route.is_page else self._volunteer(ask, go_on)

    async def _volunteer(self, ask: Ask, go_on: Next) -> Response:
        self.turns.volunteers += 1
        try:
            return await go_on(ask)
        finally:
            self.turns.volunteers -= 1

    async def _page(self, ask: Ask, go_on: Next) -> Response:
        answer = await go_on(ask)
        if isinstance(answer, NotModified):
            return answer
        if not self.turns.begin(PAGES):  # many clients wait for the same page, and for the same statement
            await self.turns.wait(PAGES)
        self.turns.leave(PAGES)
        return answer


@attrs.define(eq=False)
class CountAccountForm(Step):
    """Refuse a form of accounts that the network has sent too often: these cost hashes, letters and rows."""

    posts: Window | SharedWindow
    limit: RateLimit  # has the time

    def concerns(self, route: Route) -> bool:
        return route.is_account_form

    async def take(self, ask: Ask, go_on: Next) -> Response:
        _require(await count_hit(self.posts, (ask.route.path, network(ask.incoming.address))), self.limit)
        return await go_on(ask)


@attrs.define(eq=False)
class Identify(Step):
    """Find out who asks."""

    identity: Identity

    async def take(self, ask: Ask, go_on: Next) -> Response:
        key_header = all(route.key_header for route in ask.methods.values())
        ask.incoming.who = await self.identity.find(ask.incoming, key_header=key_header)
        return await go_on(ask)


@attrs.define(eq=False)
class LimitRate(Step):
    """Count a request to the API, and refuse one too many."""

    limit: RateLimit

    def concerns(self, route: Route) -> bool:
        return route.area is Area.API or route is NO_ROUTE

    async def take(self, ask: Ask, go_on: Next) -> Response:
        if self.limit.active and ask.incoming.is_api:
            endpoint = next((route.endpoint for route in ask.methods.values()), "unknown")
            allowance = await self.limit.take(endpoint, limited(ask.incoming))
            set_headers(ask.incoming.request.responseHeaders, allowance.headers())
            _require(allowance, self.limit)
        return await go_on(ask)


def limited(incoming: Incoming) -> LimitedClient:
    """Whose requests this one is counted with. A wrong key counts for the network, whatever cookie comes with it."""
    who, here = incoming.who, network(incoming.address)
    if incoming.key_name:
        return LimitedClient(here, KEY, incoming.key_name)
    if not incoming.wrong_key and (incoming.by_cookie or who.volunteer):
        return LimitedClient(here, BROWSER, who.actor, who.presenter)
    return LimitedClient(here, NETWORK, "", None if incoming.wrong_key else who.presenter)


def _require(allowance: RateLimitStatus, limit: RateLimit) -> None:
    if not allowance.allowed:
        wait = max(1, allowance.reset - int(limit.seconds()))
        raise TooManyRequestsError("429 Too Many Requests", retry_after=wait, hint=f"Try again in {wait} seconds.")


@attrs.define(eq=False)
class RequireRoute(Step):
    """Refuse unknown addresses, and methods that an address does not have; answer OPTIONS."""

    def concerns(self, route: Route) -> bool:
        return route is NO_ROUTE

    async def take(self, ask: Ask, go_on: Next) -> Response:
        if not ask.methods:
            raise NotFoundError("404 Not Found")
        allowed = sorted({*ask.methods, "OPTIONS"} | ({"HEAD"} if "GET" in ask.methods else set()))
        if ask.incoming.method == "OPTIONS":
            headers = preflight_headers() if is_public(ask.incoming.path) else {}
            return JsonResponse(None, 204, {**headers, "Allow": ", ".join(allowed)})
        raise MethodError("405 Method Not Allowed", allowed=tuple(allowed))


@attrs.define(eq=False)
class RequireOwnPage(Step):
    """Let pages of other sites take tasks and answer them with a key or a token only, never as their visitors."""

    csrf: Csrf

    def concerns(self, route: Route) -> bool:
        return route.assigns

    def take(self, ask: Ask, go_on: Next) -> Awaitable[Response]:
        incoming = ask.incoming
        if incoming.is_frame:  # a frame's document reserves nothing, and it may reload itself
            return go_on(ask)
        key = incoming.who.signed_in and not incoming.by_cookie
        token = "external_uid" in incoming.query and incoming.header("authorization").lower().startswith("bearer ")
        if not (key or token or self.csrf.same_site(incoming)):
            hint = "Use an API key or a token, or ask the operator of this server to allow your origin."
            words = _("Pages of other sites may read public data, but not take or answer tasks.")
            raise ForbiddenError(words, code="cross_origin", hint=hint)
        return go_on(ask)


@attrs.define(eq=False)
class Welcome(Step):
    """Make a browser that asks for a page a volunteer, unless it gets what many get: that sets no cookie.

    A task page that many get has a token for each of them, and its script asks for a task next: they are volunteers.
    """

    identity: Identity
    page_cache: PageCache

    def concerns(self, route: Route) -> bool:
        return route.is_page

    async def take(self, ask: Ask, go_on: Next) -> Response:
        ask.shared = self.page_cache.group(ask.incoming, ask.route.shared)
        if ask.shared is None and not (ask.incoming.wants_json or ask.incoming.is_frame):
            await self.identity.welcome(ask.incoming)
        answer = await go_on(ask)
        if ask.route.assigns and isinstance(answer, SharedPage) and answer.marked is not None:
            await self.identity.welcome(ask.incoming)
        return answer


@attrs.define(eq=False)
class OpenLock(Step):
    """Open the one project that a request names to a client that sends its password (X-Project-Password)."""

    projects: Projects

    def take(self, ask: Ask, go_on: Next) -> Awaitable[Response]:
        password = ask.incoming.header("x-project-password")
        return self._open(password, ask, go_on) if password else go_on(ask)

    async def _open(self, password: str, ask: Ask, go_on: Next) -> Response:
        who, reference = ask.incoming.who, await project_named(ask, self.projects)
        lock = None if reference is None else await self.projects.lock_opened_by(reference, password, who)
        if lock:
            ask.incoming.who = attrs.evolve(who, unlocked=(*who.unlocked, lock))
        return await go_on(ask)


@attrs.define(eq=False)
class TakeTurn(Step):
    """Handle a few account forms at a time, and one expensive request of each sort."""

    account_forms: Turns
    costly: CostlyRequests

    def concerns(self, route: Route) -> bool:
        return route.is_account_form or not route.spooled

    def take(self, ask: Ask, go_on: Next) -> Awaitable[Response]:
        turns = self.account_forms if ask.route.is_account_form else self.costly.turns(ask.incoming, ask.route.path)
        return go_on(ask) if turns is None else turns.run(network(ask.incoming.address), partial(go_on, ask))


@attrs.define(eq=False)
class RequirePermission(Step):
    """Refuse what the scope of a token, the proof of a session or the factors of an administrator do not allow."""

    projects: Projects
    identity: Identity
    second_factor: bool  # administrators must have one
    of_api: bool  # requests to the API take the step before their body is read, those for pages after the form's token

    def concerns(self, route: Route) -> bool:
        return (route.area is Area.API) == self.of_api

    def take(self, ask: Ask, go_on: Next) -> Awaitable[Response]:
        route = ask.route
        needed = ask.incoming.who.scope or route.proof or route.manages or route.area is Area.ADMIN
        return self._require(ask, go_on) if needed else go_on(ask)

    async def _require(self, ask: Ask, go_on: Next) -> Response:
        who, route = ask.incoming.who, ask.route
        if who.scope:
            await self._require_scope(ask)
        if route.proof and who.signed_in:
            recent_proof.require(who)
        if route.manages and who.signed_in and (who.session or route.needs != "read"):
            recent_proof.require_to_manage(who)
        if route.area is Area.ADMIN:
            recent_proof.require_for_admin(who, second_factor=self.second_factor)
            await self.identity.note_admin_use(who)
        return await go_on(ask)

    async def _require_scope(self, ask: Ask) -> None:
        who, route = ask.incoming.who, ask.route
        rights.require_scope(who, route.needs)
        if who.only_project is not None and route.needs != "read" and not route.by_role:
            rights.require_project_scope(who, await project_in_path(ask, self.projects))


@attrs.define(eq=False)
class RequireWriter(Step):
    """Refuse those who may not write here at all, before their body is read."""

    projects: Projects

    def concerns(self, route: Route) -> bool:
        return route.area is Area.API and route.changes_state and route.operation is not None

    async def take(self, ask: Ask, go_on: Next) -> Response:
        incoming, route = ask.incoming, ask.route
        for_people = route.operation is not None and route.operation.audience is Audience.SIGNED_IN
        needs_account = for_people and not incoming.who.signed_in
        if needs_account or incoming.is_large:  # others are parsed within milliseconds: the handler asks for the rights
            await self._require(ask, needs_account=needs_account)
        return await go_on(ask)

    async def _require(self, ask: Ask, *, needs_account: bool) -> None:
        if ask.route.admits is not None:
            await ask.route.admits(ask.incoming, **ask.names)
        elif needs_account:
            pass  # whether there is such a project is told to nobody
        elif (project_id := await project_in_path(ask, self.projects)) is not None:
            await self.projects.require_writer(project_id, ask.incoming.who)
        else:
            raise TooLargeError(f"The body is larger than {MAX_PARSED_AT_ONCE:,} bytes.")
        if needs_account:
            raise AnonymousError("Only signed-in people may do this.")


@attrs.define(eq=False)
class ParseInThread(Step):
    """Take a body apart that takes long to parse."""

    worker_thread: WorkerThread

    def concerns(self, route: Route) -> bool:
        return route.changes_state

    async def take(self, ask: Ask, go_on: Next) -> Response:
        if ask.incoming.takes_long_to_parse:
            await self.worker_thread.do(ask.incoming.parse)
        return await go_on(ask)


@attrs.define(eq=False)
class CheckToken(Step):
    """Refuse a form without its token (CSRF). It is believed by its cookies, unless an API key speaks for it."""

    csrf: Csrf

    def concerns(self, route: Route) -> bool:
        return route.area is not Area.API and route.changes_state and route.csrf

    def take(self, ask: Ask, go_on: Next) -> Awaitable[Response]:
        if ask.incoming.by_cookie or not ask.incoming.who.signed_in:
            self.csrf.check(ask.incoming)
        return go_on(ask)


@attrs.define(eq=False)
class ParseBody(Step):
    """Parse a body that is declared for the route."""

    def concerns(self, route: Route) -> bool:
        return route.body is not None

    def take(self, ask: Ask, go_on: Next) -> Awaitable[Response]:
        if ask.route.body is not None:
            # An empty one is {}: a page that is being closed sends it (navigator.sendBeacon).
            raw = ask.incoming.json_body() if ask.incoming.raw_body else {}
            ask.names = {**ask.names, "body": ask.route.body.parse(raw)}
        return go_on(ask)


@attrs.define(eq=False)
class SharePage(Step):
    """Send visitors the page that was made for others, and those who change something their own for a while."""

    page_cache: PageCache

    def concerns(self, route: Route) -> bool:
        return route.shared is not None or route.changes_state

    async def take(self, ask: Ask, go_on: Next) -> Response:
        if ask.shared is not None:
            return await self.page_cache.get(ask.incoming, ask.shared, partial(go_on, ask))
        try:
            return await go_on(ask)
        finally:
            if ask.route.changes_state:
                self.page_cache.note_change(ask.incoming)
