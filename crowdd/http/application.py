"""Puts the web together: every room of pages and of the API behind one front."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from twisted.web.resource import Resource

from crowdd.domain.domain import Domain
from crowdd.http.api.changes import ChangesApi
from crowdd.http.api.commenting import Commenting
from crowdd.http.api.favourites import FavouritesApi
from crowdd.http.api.leases import LeasesApi
from crowdd.http.api.loop import Loop
from crowdd.http.api.objects import Objects
from crowdd.http.api.queue import QueueApi
from crowdd.http.api.statistics import StatisticsApi
from crowdd.http.api.tokens import TokensApi
from crowdd.http.cookies import Cookies
from crowdd.http.cors import Cors
from crowdd.http.csrf import Csrf
from crowdd.http.downloads import Downloads
from crowdd.http.forms import Forms
from crowdd.http.identity import Identity
from crowdd.http.limits import RateLimit, Window
from crowdd.http.negotiation import Negotiator
from crowdd.http.pages import account, admin, project
from crowdd.http.pages.about import AboutPages
from crowdd.http.pages.announcements import Announcements
from crowdd.http.pages.api_docs import ApiDocs
from crowdd.http.pages.home import Home
from crowdd.http.pages.live import LivePages
from crowdd.http.pages.statistics import StatisticsPages
from crowdd.http.pages.uploads import Uploads
from crowdd.http.path_table import PathTable
from crowdd.http.rendering import Templates
from crowdd.http.router import Front, Router, answers
from crowdd.http.routing import by_path
from crowdd.http.site import Site
from crowdd.http.static_files import StaticFiles
from crowdd.http.streams import Streams

_HOUR = 3600


def make_site(reactor: Any, domain: Domain) -> Site:
    """The site to listen with."""
    streams = Streams(reactor, domain.settings.live)
    most = domain.settings.http.most_body_bytes
    return Site(make_root(reactor, domain, streams), streams, most_body_bytes=most, reactor=reactor)


def make_root(clock: Any, domain: Domain, streams: Streams) -> Resource:
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
    newcomers = Window(clock, settings.volunteers.cookies_per_hour, _HOUR)
    identity = Identity(settings, domain.secrets, domain.accounts, domain.people.sessions, cookies, csrf, newcomers)
    negotiator = Negotiator(templates, cookies, csrf, domain.languages)
    limit = RateLimit(clock, settings.ratelimit.limit, settings.ratelimit.window, settings.ratelimit.room)
    cors = Cors(frozenset(settings.http.allowed_origins))
    downloads = Downloads(clock, settings.live.stalled_seconds)
    router = Router(settings, identity, csrf, limit, negotiator, domain.projects, cors, streams, downloads)
    routes = [route for room in _rooms(clock, domain, templates, cookies, csrf, identity) for route in room.routes()]
    served = by_path([*routes, *ApiDocs(routes, settings.site.name).routes()])
    klein = router.klein(served)
    templates.know(answers(klein))
    return Front(klein.resource(), PathTable(served), router, static, negotiator, settings)


def _rooms(
    clock: Any, domain: Domain, templates: Templates, cookies: Cookies, csrf: Csrf, identity: Identity
) -> list[Any]:
    forms = Forms(csrf)
    return [
        Objects(domain),
        Loop(domain),
        ChangesApi(domain),
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
        Announcements(domain),
        *admin.rooms(domain, forms),
        LivePages(clock, domain, identity),
        Uploads(domain),
    ]
