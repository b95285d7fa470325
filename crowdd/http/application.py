"""The composition root of the web interface: the views of pages and of the API behind one gateway."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import Any

import attrs
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from crowdd.concurrency.concurrency_limit import Turns
from crowdd.concurrency.versioned_cache import FreshCache, VersionedCache
from crowdd.concurrency.worker_thread import WorkerThread
from crowdd.config import Settings
from crowdd.domain.server.readiness import Node, Readiness
from crowdd.domain.server.services import Services
from crowdd.http.api.answer_correction import CorrectingApi
from crowdd.http.api.assignment import Assignment
from crowdd.http.api.bars import BarsApi
from crowdd.http.api.changes import ChangesApi
from crowdd.http.api.commenting_sso import CommentingSso
from crowdd.http.api.exports import ExportsApi
from crowdd.http.api.favourites import FavouritesApi
from crowdd.http.api.gold import GoldApi
from crowdd.http.api.leases import LeasesApi
from crowdd.http.api.objects import KEPT_SECONDS, MAX_KEPT_BYTES, Objects, kept_size
from crowdd.http.api.outcomes.analyses import AnalysesApi
from crowdd.http.api.outcomes.decisions import DecisionsApi
from crowdd.http.api.queue import QueueApi
from crowdd.http.api.results import ResultsApi
from crowdd.http.api.statistics import StatisticsApi
from crowdd.http.api.tokens import TokensApi
from crowdd.http.api.transfer.deposits import DepositsApi
from crowdd.http.api.transfer.export_follower import ExportFollower
from crowdd.http.api.transfer.snapshots import SnapshotsApi
from crowdd.http.api.volunteers import VolunteersApi
from crowdd.http.auth.cookies import Cookies
from crowdd.http.auth.csrf import Csrf
from crowdd.http.auth.identity import Identity
from crowdd.http.auth.refusals import Refusals
from crowdd.http.auth.volunteers import VolunteerCookies
from crowdd.http.html.forms import Forms
from crowdd.http.html.rendering import Templates
from crowdd.http.html.setting_names import setting_names
from crowdd.http.html.static_files import StaticFiles
from crowdd.http.live_updates import Broadcast
from crowdd.http.metrics import Metrics
from crowdd.http.negotiation import Negotiator
from crowdd.http.page_cache import PageCache
from crowdd.http.pages import account, admin, project
from crowdd.http.pages.about import AboutPages
from crowdd.http.pages.announcements import Announcements
from crowdd.http.pages.api_docs import ApiDocs
from crowdd.http.pages.collections import CollectionPages
from crowdd.http.pages.home import HomePages
from crowdd.http.pages.live import LivePages, LiveProgress
from crowdd.http.pages.monitoring import Monitoring
from crowdd.http.pages.omitted_pictures import LeftOut
from crowdd.http.pages.palette import PalettePages
from crowdd.http.pages.participation import ParticipationPages
from crowdd.http.pages.preferences import Preferences
from crowdd.http.pages.security_txt import SecurityTxt
from crowdd.http.pages.site_style import SiteStyle
from crowdd.http.pages.statistics import StatisticsPages
from crowdd.http.pages.uploads import UploadPages
from crowdd.http.past_queries import PastObjects
from crowdd.http.routing import View, by_path
from crowdd.http.startup_response import Starting
from crowdd.http.transport.cors import Cors
from crowdd.http.transport.downloads import Downloads
from crowdd.http.transport.gateway import Gateway
from crowdd.http.transport.limits.body_size import Senders
from crowdd.http.transport.limits.expensive_requests import CostlyRequests
from crowdd.http.transport.limits.fair_share import FairShare, PageTurns
from crowdd.http.transport.limits.rate_limits import (
    Limits,
    RateLimit,
    Share,
    SharedWindow,
    Window,
    WindowGroup,
    flush_every,
)
from crowdd.http.transport.path_table import PathTable
from crowdd.http.transport.response_writer import ResponseWriter
from crowdd.http.transport.router import Router, answers
from crowdd.http.transport.site import Site
from crowdd.http.transport.streams import Streams
from crowdd.reactor import IReactor, epoch_seconds
from crowdd.stalls import StallWatch
from crowdd.storage.core import rate_counts

log = Logger()
_HOUR, _DAY, _QUARTER = 3600, 86400, 900
_FORM_WAIT_SECONDS = 10.0
_FORMS_BUSY = "Too many people are signing in or registering. Try again in a few seconds."


@attrs.frozen
class ProcessState:
    """What outlives a change of settings: open streams and who listens, counted requests, figures, the node."""

    streams: Streams
    broadcast: Broadcast
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
    def begin(cls, reactor: IReactor, services: Services, node: Node) -> ProcessState:
        """Nothing is open or counted yet."""
        settings, limits = services.settings, services.settings.ratelimit
        share = sharing(services) if limits.shared or settings.daemon.workers > 1 else None
        hour = Window(reactor, settings.volunteers.cookies_per_hour, _HOUR)
        day = Window(reactor, settings.volunteers.cookies_per_day, _DAY)
        newcomers = (hour, day) if share is None else (share("newcomers", hour), share("newcomers of a day", day))
        posts = Window(reactor, settings.accounts.max_posts, _QUARTER)
        metrics = Metrics(reactor, services.db, services.settings)
        return cls(
            Streams(reactor, settings.live),
            Broadcast(reactor, services.live, services.change_notifier),
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


def sharing(services: Services) -> Share:
    """How processes on one database fill windows together."""

    def share(name: str, window: Window) -> SharedWindow:
        async def add(key: object, end: int, more: int) -> int:
            return await rate_counts.add(services.db, services.secrets.digest("rate", repr((name, key))), end, more)

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


def make_root(clock: IReactorTime, services: Services, process_state: ProcessState) -> Gateway:
    """The resource tree; ``clock`` has ``seconds()``."""
    settings = services.settings
    static, now = StaticFiles.read(data=settings.data.dir), partial(epoch_seconds, clock)
    templates = Templates(
        static,
        now=lambda: datetime.fromtimestamp(now(), UTC),
        appearance=services.site.appearance,
        base_url=settings.base_url,
        languages=services.languages,
        data=settings.data.dir,
    )
    https = settings.base_url.startswith("https:")
    cookies = Cookies(services.secrets, now, https, settings.http.cross_site_cookies)
    csrf = Csrf(services.secrets, cookies, settings.base_url, frozenset(settings.http.allowed_origins))
    volunteers = VolunteerCookies(cookies, process_state.newcomers, settings.volunteers.anonymous == "cookie")
    identity = Identity(
        settings,
        services.secrets,
        services.accounts,
        services.people.sessions,
        services.people.api_tokens,
        cookies,
        csrf,
        volunteers,
        services.security_log,
    )
    refusals = Refusals(services.secrets, services.security_log)
    negotiator = Negotiator(templates, cookies, csrf, services.languages)
    cors = Cors(frozenset(settings.http.allowed_origins))
    limit, posts = process_state.limit, process_state.posts
    downloads = Downloads(clock, settings.live.stalled_timeout)
    router = Router(
        settings,
        identity,
        csrf,
        limit,
        posts,
        negotiator,
        services.projects,
        ResponseWriter(negotiator, cors, process_state.streams, downloads, process_state.unpacking),
        process_state.unpacking,
        refusals,
        FairShare(clock, settings.http.max_requests_per_network),
        PageTurns(clock),
        process_state.account_forms,
        process_state.costly,
        PageCache(
            clock,
            settings,
            services.exposure,
            lambda: services.site.row.version,
            negotiator.html_in_pieces,
            process_state.metrics.page_cache,
        ),
        process_state.stalls,
    )
    views: list[View] = [
        *_views(clock, services, templates, volunteers, csrf),
        _exports(services, identity, process_state.broadcast),
        LivePages(services.projects, services.live, identity, process_state.broadcast),
        LiveProgress("import", services.projects, services.imports, identity, process_state.broadcast),
        LiveProgress("media", services.projects, services.media_batches, identity, process_state.broadcast),
        _monitoring(clock, services, process_state),
    ]
    routes = [route for view in views for route in view.routes()]
    served = by_path([*routes, *ApiDocs(routes, services.site.name()).routes()])
    klein = router.klein(served)
    templates.set_answered(answers(klein))
    senders = Senders(settings, identity, services.projects)
    return Gateway(klein.resource(), PathTable(served), router, static, negotiator, settings, senders.limit, refusals)


def _monitoring(clock: IReactorTime, services: Services, process_state: ProcessState) -> Monitoring:
    data, node = services.settings.data, process_state.node
    readiness = Readiness(clock, services.db, services.secrets, data.dir, data.min_free_bytes, node)
    return Monitoring(readiness, services.settings.metrics.token, process_state.metrics.text)


def _exports(services: Services, identity: Identity, broadcast: Broadcast) -> ExportsApi:
    follower = ExportFollower(services.exports, services.projects, identity, broadcast)
    return ExportsApi(services.exports, services.records, services.projects, follower)


def _views(
    clock: IReactorTime, services: Services, templates: Templates, volunteers: VolunteerCookies, csrf: Csrf
) -> list[View]:
    settings, forms, cookies = services.settings, Forms(csrf), volunteers.cookies
    left_out = LeftOut(services.prose, settings.base_url)
    return [
        Objects(
            services.records,
            services.record_texts,
            services.contributions,
            services.statistics,
            FreshCache(clock, VersionedCache(clock, KEPT_SECONDS, MAX_KEPT_BYTES, kept_size)),
            PastObjects(services.history),
        ),
        ResultsApi(services.results),
        DecisionsApi(services.reviews),
        Assignment(services.contributions, services.leases, services.external),
        ChangesApi(services.changes),
        BarsApi(services.barring),
        GoldApi(services.gold),
        VolunteersApi(services.volunteers),
        AnalysesApi(services.analyses),
        SnapshotsApi(services.snapshots, services.projects, services.records, services.settings.base_url),
        DepositsApi(services.deposits),
        CorrectingApi(services.contributions),
        LeasesApi(services.leases),
        FavouritesApi(services.favourites, services.contributions),
        StatisticsApi(services.statistics, services.records, services.projects, services.finished_tasks),
        QueueApi(services.queue),
        CommentingSso(settings.commenting, services.accounts, partial(epoch_seconds, clock)),
        TokensApi(services.people.social_login),
        HomePages(services.projects, services.accounts, services.statistics, services.site),
        Preferences(services.records, services.languages, cookies, csrf),
        PalettePages(services.palette, services.languages, setting_names(templates.environment)),
        *account.pages(services, forms, volunteers),
        ParticipationPages(services.accounts, services.participation, services.favourites, forms),
        CollectionPages(services.accounts, services.collections, forms, services.settings.base_url),
        *project.pages(services, forms, cookies, templates, left_out),
        StatisticsPages(services.statistics, services.accounts),
        AboutPages(settings.site, services.site, services.prose),
        SiteStyle(services.site),
        SecurityTxt(settings.site.security_contact, settings.base_url, partial(epoch_seconds, clock)),
        Announcements(services.records, services.prose),
        *admin.pages(services, forms, left_out),
        UploadPages(services.uploads, services.media_store, services.file_access),
    ]
