"""Puts the web together: every room of pages and of the API behind one front."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import attrs
from twisted.logger import Logger
from twisted.web.resource import Resource

from crowdd.config import Settings
from crowdd.domain.core.concurrency.concurrency_limit import Turns
from crowdd.domain.core.concurrency.worker_thread import Workshop
from crowdd.domain.server.readiness import Readiness
from crowdd.domain.server.services import Domain
from crowdd.http.api.answer_correction import CorrectingApi
from crowdd.http.api.assignment import Loop
from crowdd.http.api.bars import BarsApi
from crowdd.http.api.changes import ChangesApi
from crowdd.http.api.commenting_sso import Commenting
from crowdd.http.api.favourites import FavouritesApi
from crowdd.http.api.leases import LeasesApi
from crowdd.http.api.objects import Objects
from crowdd.http.api.queue import QueueApi
from crowdd.http.api.results import ResultsApi
from crowdd.http.api.statistics import StatisticsApi
from crowdd.http.api.tokens import TokensApi
from crowdd.http.api.volunteers import VolunteersApi
from crowdd.http.auth.cookies import Cookies
from crowdd.http.auth.csrf import Csrf
from crowdd.http.auth.identity import Identity
from crowdd.http.auth.refusals import Refusals
from crowdd.http.html.forms import Forms
from crowdd.http.html.rendering import Templates
from crowdd.http.html.static_files import StaticFiles
from crowdd.http.live_updates import Broadcast
from crowdd.http.metrics import Metrics
from crowdd.http.negotiation import Negotiator
from crowdd.http.pages import account, admin, project
from crowdd.http.pages.about import AboutPages
from crowdd.http.pages.announcements import Announcements
from crowdd.http.pages.api_docs import ApiDocs
from crowdd.http.pages.home import Home
from crowdd.http.pages.live import LivePages
from crowdd.http.pages.monitoring import Monitoring
from crowdd.http.pages.security_txt import SecurityTxt
from crowdd.http.pages.statistics import StatisticsPages
from crowdd.http.pages.uploads import Uploads
from crowdd.http.routing import by_path
from crowdd.http.transport.cors import Cors
from crowdd.http.transport.downloads import Downloads
from crowdd.http.transport.limits.body_size import Senders
from crowdd.http.transport.limits.expensive_requests import CostlyRequests
from crowdd.http.transport.limits.fair_share import FairShare
from crowdd.http.transport.limits.rate_limits import Budget, Limits, RateLimit, Share, SharedWindow, Window, block
from crowdd.http.transport.path_table import PathTable
from crowdd.http.transport.router import Front, Router, answers
from crowdd.http.transport.site import Site
from crowdd.http.transport.startup_response import Starting
from crowdd.http.transport.streams import Streams
from crowdd.storage.core import rate_counts

log = Logger()
_HOUR, _DAY, _QUARTER = 3600, 86400, 900
_FORM_WAIT_SECONDS = 10.0
_FORMS_BUSY = "Too many people sign in or register at the moment. Try again in a few seconds."


@attrs.frozen
class Lasting:
    """What outlives a change of settings: open streams and who listens, counted requests, figures."""

    streams: Streams
    broadcast: Broadcast
    limit: RateLimit
    newcomers: Budget
    posts: Window | SharedWindow
    metrics: Metrics
    unpacking: Workshop  # takes large forms apart
    account_forms: Turns
    costly: CostlyRequests

    @classmethod
    def begin(cls, reactor: Any, domain: Domain) -> Lasting:
        """Nothing is open or counted yet."""
        settings, limits = domain.settings, domain.settings.ratelimit
        share = sharing(domain) if limits.shared or settings.daemon.workers > 1 else None
        hour = Window(reactor, settings.volunteers.cookies_per_hour, _HOUR)
        day = Window(reactor, settings.volunteers.cookies_per_day, _DAY)
        newcomers = (hour, day) if share is None else (share("newcomers", hour), share("newcomers of a day", day))
        posts = Window(reactor, settings.accounts.max_posts, _QUARTER)
        return cls(
            Streams(reactor, settings.live),
            Broadcast(reactor, domain.live, domain.bell),
            RateLimit(reactor, rate_limits(settings), share),
            Budget(newcomers),
            posts if share is None else share("posts", posts),
            Metrics(reactor, domain.db),
            Workshop(reactor),
            Turns(reactor, 2, _FORM_WAIT_SECONDS, rest=1.0, max_waiting_of_one=64, refusal=_FORMS_BUSY),
            CostlyRequests(reactor),
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
    given = settings.ratelimit
    return Limits(given.limit, given.key_limit, given.window, given.shared_address_factor)


def sharing(domain: Domain) -> Share:
    """How processes on one database fill windows together."""

    def share(name: str, window: Window) -> SharedWindow:
        async def add(key: Any, end: int, more: int) -> int:
            return await rate_counts.add(domain.db, domain.secrets.digest("rate", repr((name, key))), end, more)

        return SharedWindow(window, add, block(window.limit))

    return share


def make_site(reactor: Any, settings: Settings, lasting: Lasting) -> Site:
    """The site to listen with. It says that it is starting until ``resource`` is what ``make_root`` gives."""

    def answered(request: Any) -> None:
        method, seconds = request.method.decode("ascii", "replace"), reactor.seconds() - request.began
        lasting.metrics.answered(request.route, method, request.code, seconds)
        if site.log_requests:
            log.info(
                "{method} {route} {status} in {seconds:.3f} s",
                method=method, route=request.route, status=request.code, seconds=seconds, request_id=request.request_id,
            )  # fmt: skip

    site = Site(
        Starting(),
        lasting.streams,
        settings,
        reactor=reactor,
        answered=answered,
    )
    return site


def make_root(clock: Any, domain: Domain, lasting: Lasting) -> Resource:
    """The resource tree; ``clock`` has ``seconds()``."""
    settings = domain.settings
    static = StaticFiles.read()
    templates = Templates(
        static,
        now=lambda: datetime.fromtimestamp(clock.seconds(), UTC),
        name=settings.site.name,
        base_url=settings.base_url,
        languages=domain.languages,
    )
    https = settings.base_url.startswith("https:")
    cookies = Cookies(domain.secrets, clock.seconds, https, settings.http.cross_site_cookies)
    csrf = Csrf(domain.secrets, cookies, settings.base_url, frozenset(settings.http.allowed_origins))
    newcomers, sessions = lasting.newcomers, domain.people.sessions
    tokens = domain.people.api_tokens
    identity = Identity(
        settings, domain.secrets, domain.accounts, sessions, tokens, cookies, csrf, newcomers, domain.security_log
    )
    refusals = Refusals(domain.secrets, domain.security_log)
    negotiator = Negotiator(templates, cookies, csrf, domain.languages)
    cors = Cors(frozenset(settings.http.allowed_origins))
    streams, limit, posts = lasting.streams, lasting.limit, lasting.posts
    downloads = Downloads(clock, settings.live.stalled_seconds)
    router = Router(
        settings,
        identity,
        csrf,
        limit,
        posts,
        negotiator,
        domain.projects,
        cors,
        streams,
        downloads,
        lasting.unpacking,
        refusals,
        FairShare(clock, settings.http.max_requests_per_network),
        lasting.account_forms,
        lasting.costly,
    )
    rooms = [
        *_rooms(clock, domain, templates, cookies, csrf),
        LivePages(domain, identity, lasting.broadcast),
        _monitoring(clock, domain, lasting.metrics),
    ]
    routes = [route for room in rooms for route in room.routes()]
    served = by_path([*routes, *ApiDocs(routes, settings.site.name).routes()])
    klein = router.klein(served)
    templates.know(answers(klein))
    senders = Senders(settings, identity, domain.projects)
    return Front(klein.resource(), PathTable(served), router, static, negotiator, settings, senders.limit, refusals)


def _monitoring(clock: Any, domain: Domain, metrics: Metrics) -> Monitoring:
    data = domain.settings.data
    readiness = Readiness(clock, domain.db, domain.secrets, data.dir, data.min_free_bytes)
    return Monitoring(readiness, domain.settings.metrics.token, metrics.text)


def _rooms(clock: Any, domain: Domain, templates: Templates, cookies: Cookies, csrf: Csrf) -> list[Any]:
    forms = Forms(csrf)
    return [
        Objects(domain),
        ResultsApi(domain),
        Loop(domain),
        ChangesApi(domain),
        BarsApi(domain),
        VolunteersApi(domain),
        CorrectingApi(domain),
        LeasesApi(domain),
        FavouritesApi(domain),
        StatisticsApi(domain),
        QueueApi(domain),
        Commenting(domain, clock),
        TokensApi(domain),
        Home(domain, cookies),
        *account.rooms(domain, forms, cookies),
        *project.rooms(domain, forms, cookies, templates),
        StatisticsPages(domain),
        AboutPages(domain.settings.site),
        SecurityTxt(domain.settings, clock),
        Announcements(domain),
        *admin.rooms(domain, forms),
        Uploads(domain),
    ]
