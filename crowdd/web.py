"""The composition root of the web interface: the pages and the API of all features behind one gateway."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import attrs
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from crowdd.core import statements as core_statements
from crowdd.core.base import Base
from crowdd.core.feature import House
from crowdd.features.operations.metrics import Metrics
from crowdd.features.operations.pages import Monitoring, Starting
from crowdd.features.operations.readiness import Readiness
from crowdd.features.projects.feature import ProjectsFeature
from crowdd.features.signin.web import SigninWeb
from crowdd.http import steps
from crowdd.http.api.reference import ApiDocs
from crowdd.http.auth.cookies import Cookies
from crowdd.http.auth.csrf import Csrf, Refusals
from crowdd.http.auth.volunteers import VolunteerCookies
from crowdd.http.edge.bodies import Senders
from crowdd.http.edge.downloads import Downloads
from crowdd.http.edge.fair_share import CostlyRequests, FairShare, PageTurns
from crowdd.http.edge.gateway import Gateway
from crowdd.http.edge.rate_limits import Limits, RateLimit, Share, SharedWindow, Window, WindowGroup, flush_every
from crowdd.http.edge.response_writer import Cors, ResponseWriter
from crowdd.http.edge.site import Site
from crowdd.http.edge.streams import Streams
from crowdd.http.html.forms import Forms
from crowdd.http.html.rendering import Templates
from crowdd.http.html.static_files import StaticFiles
from crowdd.http.interfaces import Identity
from crowdd.http.negotiation import Negotiator
from crowdd.http.page_cache import PageCache
from crowdd.http.router import Router, answers
from crowdd.http.routing import PathTable, Route, by_path
from crowdd.http.web import FeaturePages, FeatureWeb, Web
from crowdd.kernel.concurrency.throttling import Turns
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.config import Settings
from crowdd.kernel.reactor import IReactor
from crowdd.kernel.stalls import StallWatch
from crowdd.sched.nodes import Node
from crowdd.sched.registry import declared_classes

log = Logger()


_HOUR, _DAY, _QUARTER = 3600, 86400, 900
_FORM_WAIT_SECONDS = 10.0
_FORMS_BUSY = "Too many people are signing in or registering. Try again in a few seconds."


@attrs.frozen
class ProcessState:
    """What outlives a change of settings: open streams, counted requests, figures, the node."""

    streams: Streams
    limit: RateLimit
    newcomers: WindowGroup
    posts: Window | SharedWindow
    metrics: Metrics
    unpacking: WorkerThread  # takes large forms apart
    account_forms: Turns
    costly: CostlyRequests
    stalls: StallWatch
    node: Node

    @classmethod
    def begin(cls, reactor: IReactor, house: House, node: Node) -> ProcessState:
        """Nothing is open or counted yet."""
        settings, limits = house.base.settings, house.base.settings.ratelimit
        share = sharing(house.base) if limits.shared or settings.daemon.workers > 1 else None
        hour = Window(reactor, settings.volunteers.cookies_per_hour, _HOUR)
        day = Window(reactor, settings.volunteers.cookies_per_day, _DAY)
        newcomers = (hour, day) if share is None else (share("newcomers", hour), share("newcomers of a day", day))
        posts = Window(reactor, settings.accounts.max_posts, _QUARTER)
        metrics = Metrics(reactor, house.base.db, settings)
        return cls(
            Streams(reactor, settings.live),
            RateLimit(reactor, rate_limits(settings), share),
            WindowGroup(newcomers),
            posts if share is None else share("posts", posts),
            metrics,
            WorkerThread(reactor),
            Turns(reactor, 2, _FORM_WAIT_SECONDS, rest=1.0, max_waiting_of_one=64, refusal=_FORMS_BUSY),
            CostlyRequests(reactor),
            StallWatch(metrics.stalled),
            node,
        )

    def use(self, settings: Settings) -> None:
        """Limits are these from now on; what was counted counts."""
        self.limit.use(rate_limits(settings))
        hour, day = self.newcomers.windows
        hour.use(settings.volunteers.cookies_per_hour, _HOUR)
        day.use(settings.volunteers.cookies_per_day, _DAY)
        self.posts.use(settings.accounts.max_posts, _QUARTER)


def rate_limits(settings: Settings) -> Limits:
    """The limits on /api."""
    limits = settings.ratelimit
    return Limits(limits.limit, limits.key_limit, limits.window, limits.shared_address_factor)


def sharing(base: Base) -> Share:
    """How processes on one database fill windows together."""

    def share(name: str, window: Window) -> SharedWindow:
        async def add(key: object, end: int, more: int) -> int:
            return await core_statements.add_requests(
                base.db, base.secrets.digest("rate", repr((name, key))), end, more
            )

        return SharedWindow(window, add, flush_every(window.limit))

    return share


def make_site(reactor: IReactor, settings: Settings, process_state: ProcessState) -> Site:
    """The site to listen with. It says that it is starting until ``resource`` is what ``make_root`` gives."""

    def answered(request: Any) -> None:
        method, seconds = request.method.decode("ascii", "replace"), reactor.seconds() - request.began
        process_state.metrics.answered(request.route, method, request.code, seconds)
        if site.log_requests:
            log.info(
                "{method} {route} {status} in {seconds:.3f} s",
                method=method, route=request.route, status=request.code, seconds=seconds, request_id=request.request_id,
            )  # fmt: skip

    site = Site(
        Starting(),
        process_state.streams,
        settings,
        reactor=reactor,
        answered=answered,
    )
    return site


def make_root(clock: IReactorTime, house: House, process_state: ProcessState) -> Gateway:
    """The resource tree; ``clock`` has ``seconds()``."""
    base, settings = house.base, house.base.settings
    static = StaticFiles.read(data=settings.data.dir)
    web = _web(base, static, process_state.newcomers)
    pages = FeaturePages(web, house, declared_classes(FeatureWeb, "web"))
    identity, projects = pages[SigninWeb].identity, house[ProjectsFeature].projects
    refusals = Refusals(base.secrets, base.security_log)
    negotiator = Negotiator(web.templates, web.cookies, web.csrf, base.languages, refusals)
    page_cache = PageCache(
        clock,
        settings,
        base.exposure,
        lambda: base.site.row.version,
        negotiator.html_in_pieces,
        process_state.metrics.page_cache,
    )
    writer = ResponseWriter(
        negotiator,
        Cors(frozenset(settings.http.allowed_origins)),
        process_state.streams,
        Downloads(clock, settings.live.stalled_timeout),
        process_state.unpacking,
        process_state.costly,
    )
    router = Router(_steps(clock, house, process_state, web, identity, page_cache), writer, negotiator)
    served = by_path(_routes(clock, base, pages, process_state))
    klein = router.klein(served)
    web.templates.set_answered(answers(klein))
    senders = Senders(settings, identity, projects)
    return Gateway(klein.resource(), PathTable(served), router, static, negotiator, settings, senders.limit)


def _web(base: Base, static: StaticFiles, newcomers: WindowGroup) -> Web:
    """What the pages of all features share."""
    settings, now = base.settings, base.shared.seconds
    templates = Templates(
        static,
        now=lambda: datetime.fromtimestamp(now(), UTC),
        appearance=base.site.appearance,
        base_url=base.base_url,
        languages=base.languages,
        data=settings.data.dir,
    )
    cookies = Cookies(base.secrets, now, base.base_url.startswith("https:"), settings.http.cross_site_cookies)
    csrf = Csrf(base.secrets, cookies, base.base_url, frozenset(settings.http.allowed_origins))
    volunteers = VolunteerCookies(cookies, newcomers, settings.volunteers.anonymous == "cookie")
    return Web(templates, volunteers, Forms(csrf), now)


def _routes(clock: IReactorTime, base: Base, pages: FeaturePages, process_state: ProcessState) -> list[Route]:
    """The routes of all features, of monitoring, and of the documentation of those of the API."""
    data, token = base.settings.data, base.settings.metrics.token
    readiness = Readiness(clock, base.db, base.secrets, data.dir, data.min_free_bytes, process_state.node)
    monitoring = Monitoring(readiness, token, process_state.metrics.text)
    routes = [route for view in (*pages.views(), monitoring) for route in view.routes()]
    return [*routes, *ApiDocs(routes, base.site.name()).routes()]


def _steps(
    clock: IReactorTime, house: House, state: ProcessState, web: Web, identity: Identity, page_cache: PageCache
) -> tuple[steps.Step, ...]:
    """The steps of requests, in their order; docs/architecture.md prints it."""
    settings, projects = house.base.settings, house[ProjectsFeature].projects
    second_factor = settings.accounts.require_second_factor == "admins"
    return (
        steps.NoteAddress(state.stalls),
        steps.WaitForShare(FairShare(clock, settings.http.max_requests_per_network)),
        steps.DelayRefusals(clock),
        steps.SendNotModified(page_cache),
        steps.WaitForPageTurn(PageTurns(clock)),
        steps.CountAccountForm(state.posts, state.limit),
        steps.Identify(identity),
        steps.LimitRate(state.limit),
        steps.RequireRoute(),
        steps.RequireOwnPage(web.csrf),
        steps.Welcome(identity, page_cache),
        steps.OpenLock(projects),
        steps.TakeTurn(state.account_forms, state.costly),
        steps.RequirePermission(projects, identity, second_factor, of_api=True),
        steps.RequireWriter(projects),
        steps.ParseInThread(state.unpacking),
        steps.CheckToken(web.csrf),
        steps.RequirePermission(projects, identity, second_factor, of_api=False),
        steps.ParseBody(),
        steps.SharePage(page_cache),
    )
