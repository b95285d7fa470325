"""The composition root of the web interface: the views of pages and of the API behind one gateway.

The views below /account, /admin and /project are listed here.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import Any

import attrs
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from crowdd.core import statements as core_statements
from crowdd.features.analyses.api import AnalysesApi
from crowdd.features.analyses.pages import AnalysisPages
from crowdd.features.batches.api import MediaFiles
from crowdd.features.batches.pages import MediaPages
from crowdd.features.community.api import FavouritesApi
from crowdd.features.community.collection_pages import CollectionPages
from crowdd.features.community.participation_pages import ParticipationPages
from crowdd.features.exports.api import ExportFollower, ExportsApi
from crowdd.features.exports.pages import ExportPages
from crowdd.features.gallery.admin_pages import AdminTemplates
from crowdd.features.gallery.drafts import make_draft, own_example
from crowdd.features.gallery.pages import GalleryPages, SavingPages
from crowdd.features.imports.column_pages import ColumnPages
from crowdd.features.imports.pages import ImportPages, SourcePages
from crowdd.features.operations.metrics import Metrics
from crowdd.features.operations.pages import AdminMail, AdminOperation, AdminQueue, Monitoring, Starting
from crowdd.features.operations.readiness import Node, Readiness
from crowdd.features.people.admin_pages import AdminInvitations, AdminUsers
from crowdd.features.people.api import CommentingSso
from crowdd.features.people.leaving_pages import LeavingPages
from crowdd.features.people.profile_pages import CommunityPages, ProfilePages
from crowdd.features.people.settings_pages import NewsletterPages, Preferences, SettingsForms, SettingsPages
from crowdd.features.presenters.editor_pages import EditorPages
from crowdd.features.presenters.frames import PresenterContexts, PresenterFrames
from crowdd.features.presenters.overview_pages import OverviewPages
from crowdd.features.presenters.task_pages import PresentingPages
from crowdd.features.projects.api import QueueApi
from crowdd.features.projects.background_task_pages import WorkPages
from crowdd.features.projects.blog_pages import BlogPages
from crowdd.features.projects.file_pages import PicturePages, UploadPages
from crowdd.features.projects.form_pages import DeletingPages, PasswordPages, UpdatePages
from crowdd.features.projects.list_pages import ProjectListPages
from crowdd.features.projects.owner_pages import InvitationPages, OwnersPages, ProjectAuditPages
from crowdd.features.projects.palette_pages import PalettePages
from crowdd.features.projects.settings_pages import ProjectSettingsPages
from crowdd.features.projects.sharing_pages import CardPages, SharingPages
from crowdd.features.projects.views import LeftOut, ProjectViews
from crowdd.features.publishing.creation_pages import NewProjectPages
from crowdd.features.publishing.publication_pages import PublishingPages
from crowdd.features.questions.answer_field_pages import AnswerFieldPages
from crowdd.features.questions.builder_pages import Builder, Previews, QuestionCheckPages
from crowdd.features.questions.guide_pages import FieldGuidePages, GuideEditorPages
from crowdd.features.questions.guides import GuideReader, GuideVersions
from crowdd.features.questions.question_pages import QuestionsEditor
from crowdd.features.results.api import ResultsApi
from crowdd.features.signin.api import TokensApi
from crowdd.features.signin.factor_pages import PasskeyPages, SecondStepPages
from crowdd.features.signin.identity import Identity
from crowdd.features.signin.provider_pages import ProviderPages
from crowdd.features.signin.registration_pages import ConfirmPages, RegisterPages, StrengthPages
from crowdd.features.signin.security_pages import DevicePages, SecurityPages, TokenPages
from crowdd.features.signin.sign_in_pages import ProvePages, RecoveryPages, SignInPages
from crowdd.features.signin.views import EarlierAnswers, Entry, SecondSteps
from crowdd.features.site.admin_pages import AdminDashboard, AdminLogs
from crowdd.features.site.announcement_pages import AdminAnnouncements, Announcements
from crowdd.features.site.catalogue_pages import AdminCategories, AdminFeatured, AdminProjects
from crowdd.features.site.front_pages import AboutPages, HomePages, SecurityTxt
from crowdd.features.site.site_pages import AdminSite, SiteStyle
from crowdd.features.snapshots.api import DepositsApi, SnapshotsApi
from crowdd.features.snapshots.pages import DepositPages, DifferencePages, SnapshotPages
from crowdd.features.statistics.api import StatisticsApi
from crowdd.features.statistics.live_pages import LivePages, LiveProgress
from crowdd.features.statistics.live_updates import Broadcast
from crowdd.features.statistics.pages import ProjectStatisticsPages, StatisticsPages
from crowdd.features.tasks.api import Assignment, CorrectingApi, LeasesApi
from crowdd.features.tasks.change_api import ChangesApi
from crowdd.features.tasks.change_pages import AnswerSelectionPages, ChangePages
from crowdd.features.tasks.comment_pages import CommentPages
from crowdd.features.tasks.task_pages import TaskHistoryPages, TaskPages
from crowdd.features.tasks.volunteer_api import BarsApi, VolunteersApi
from crowdd.features.tasks.volunteer_pages import VolunteerPages
from crowdd.features.trust.adaptive_pages import AdaptivePages
from crowdd.features.trust.api import DecisionsApi, GoldApi
from crowdd.features.trust.gold_pages import GoldPages
from crowdd.features.trust.review_pages import ReviewerPages, ReviewPages
from crowdd.features.webhooks.pages import WebhookPages
from crowdd.http.api.objects import KEPT_SECONDS, MAX_KEPT_BYTES, Objects, kept_size
from crowdd.http.api.reference import ApiDocs
from crowdd.http.auth.confirmation import Confirm
from crowdd.http.auth.cookies import Cookies
from crowdd.http.auth.csrf import Csrf, Refusals
from crowdd.http.auth.volunteers import VolunteerCookies
from crowdd.http.edge.downloads import Downloads
from crowdd.http.edge.fair_share import CostlyRequests, FairShare, PageTurns, Senders
from crowdd.http.edge.gateway import Gateway
from crowdd.http.edge.rate_limits import Limits, RateLimit, Share, SharedWindow, Window, WindowGroup, flush_every
from crowdd.http.edge.response_writer import Cors, ResponseWriter
from crowdd.http.edge.site import Site
from crowdd.http.edge.streams import Streams
from crowdd.http.html.forms import Forms, setting_names
from crowdd.http.html.rendering import Templates
from crowdd.http.html.static_files import StaticFiles
from crowdd.http.negotiation import Negotiator
from crowdd.http.page_cache import PageCache
from crowdd.http.queries import PastObjects
from crowdd.http.router import Router, answers
from crowdd.http.routing import PathTable, View, by_path
from crowdd.kernel.concurrency.cache import FreshCache, VersionedCache
from crowdd.kernel.concurrency.throttling import Turns
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.config import Settings
from crowdd.kernel.reactor import IReactor, epoch_seconds
from crowdd.kernel.stalls import StallWatch
from crowdd.services import Services

log = Logger()


def account_pages(services: Services, forms: Forms, volunteers: VolunteerCookies) -> list[View]:
    """The views of accounts in the browser."""
    accounts, people, settings = services.accounts, services.people, services.settings
    second_steps = SecondSteps(people.second_factors, people.now, volunteers.cookies)
    entry = Entry(
        people.sessions,
        people.new_devices,
        services.security_log,
        second_steps,
        people.same_person,
        volunteers,
        settings.accounts.session_days,
    )
    earlier_answers = EarlierAnswers(people.answer_claims, volunteers, settings.accounts.link_hours)
    settings_forms = SettingsForms(people.profiles, people.avatars, services.languages, entry)
    usage = partial(services.quota.usage, services.db)
    return [
        RegisterPages(
            accounts,
            people.social_login,
            people.email_confirmation,
            forms,
            entry,
            earlier_answers,
            services.invitations,
        ),
        SignInPages(people.signing_in, people.providers, people.second_factors, forms, entry),
        SecondStepPages(people.second_factors, second_steps, forms, entry),
        ProvePages(accounts, people.second_factors, people.signing_in, people.providers, forms, entry),
        SecurityPages(accounts, people.second_factors, people.api_tokens, people.sessions, forms),
        PasskeyPages(accounts, people.second_factors, forms, entry),
        TokenPages(accounts, people.api_tokens, forms),
        ProfilePages(accounts, services.projects, people.email_confirmation, forms),
        SettingsPages(accounts, usage, services.languages, people.providers, forms, settings_forms),
        NewsletterPages(people.profiles, forms),
        DevicePages(accounts, people.sessions, forms, entry, earlier_answers),
        ProviderPages(
            accounts,
            people.providers,
            people.social_login,
            people.second_factors,
            forms,
            entry,
            second_steps,
            settings.http.spa_base_url,
        ),
        LeavingPages(accounts, people.personal_data, people.account_deletion, people.signing_in, forms, entry),
        ConfirmPages(accounts, people.email_confirmation, forms, entry, earlier_answers),
        RecoveryPages(people.recovery, forms, entry),
        CommunityPages(accounts, people.user_list, services.statistics),
        StrengthPages(people.policy, services.languages),
    ]


def admin_pages(services: Services, forms: Forms, left_out: LeftOut) -> list[View]:
    """The views for administrators."""
    return [
        AdminUsers(services.administration, services.accounts, forms),
        AdminProjects(services.administration),
        AdminCategories(services.administration, services.records, forms),
        AdminFeatured(services.administration, services.records, forms),
        AdminAnnouncements(services.records, forms, left_out),
        AdminDashboard(services.administration, services.statistics),
        AdminLogs(services.administration),
        AdminSite(services.site_administration, services.site, forms),
        AdminTemplates(services.gallery, services.template_maker, services.people.worker_thread, forms),
        AdminInvitations(services.invitations, services.settings.base_url, forms),
        AdminQueue(services.administration, services.queue, forms),
        AdminMail(services.administration, services.mail, forms),
        AdminOperation(services.administration, services.webhooks),
    ]


def project_pages(
    services: Services, forms: Forms, cookies: Cookies, templates: Templates, left_out: LeftOut
) -> list[View]:
    """The views that list, create, show and change projects in the browser."""
    base_url = services.settings.base_url
    views = ProjectViews(
        services.records, services.accounts, services.prose, services.project_pictures, left_out, base_url
    )
    guides = GuideReader(services.prose)
    frames = PresenterFrames(services.projects, services.file_access, guides, templates, base_url)
    contexts = PresenterContexts(services.records, services.contributions, services.file_access, services.accounts)
    previews = Previews(services.records, services.file_access)
    builder = Builder(services.question_reviews, services.languages)
    questions = QuestionsEditor(services.projects, previews, builder, forms, views)
    confirm = Confirm(forms.csrf)
    return [
        CardPages(services.projects, services.records, templates),
        OverviewPages(services.projects, services.project_overviews, views, cookies),
        PublishingPages(services.projects, services.publishing_checks, services.sample_tasks, forms, views),
        SharingPages(services.projects, services.posters, services.languages, views),
        PasswordPages(services.projects, forms, cookies),
        WebhookPages(services.projects, services.webhooks, services.records, forms, views),
        PresentingPages(
            services.projects, services.contributions, services.finished_tasks, contexts, frames, confirm, views
        ),
        ProjectStatisticsPages(services.projects, services.statistics, views),
        TaskPages(services.projects, services.browsing, services.leases, services.comments, forms, views),
        TaskHistoryPages(services.projects, services.history, views),
        AnswerSelectionPages(services.projects, services.browsing, services.changes, services.barring, forms, views),
        ExportPages(services.projects, services.exports, views),
        ImportPages(services.projects, services.imports, services.sources, services.sample_tasks, forms, views),
        MediaPages(services.projects, services.media_batches, services.sample_tasks, forms, views),
        MediaFiles(services.projects, services.media_batches, services.languages),
        SourcePages(services.projects, services.sources),
        ColumnPages(services.projects, services.browsing, forms, views),
        ChangePages(services.projects, services.changes, forms, views),
        GoldPages(services.projects, services.gold, forms, views),
        WorkPages(services.projects, services.queue, forms.csrf, views),
        ProjectListPages(services.project_lists),
        NewProjectPages(services.records, services.gallery, forms, partial(own_example, services)),
        SavingPages(services.projects, services.gallery, services.template_maker, services.sample_tasks, forms, views),
        GalleryPages(services.gallery, services.projects, frames, forms, partial(make_draft, services)),
        ProjectSettingsPages(services.projects, services.ownership, services.settings_overview, forms, views),
        VolunteerPages(services.projects, services.volunteers, services.records, services.barring, forms, views),
        ReviewPages(services.projects, services.reviews, previews, frames, forms.csrf, views),
        AdaptivePages(services.projects, services.adaptive, services.trust_overview, services.reviews, forms, views),
        ReviewerPages(services.projects, services.reviewers, base_url, forms, views),
        CommentPages(services.projects, services.comments, forms, views),
        AnalysisPages(services.projects, services.analyses, forms.csrf, views),
        SnapshotPages(services.projects, services.snapshots, forms.csrf, views),
        DifferencePages(services.projects, services.snapshots, views),
        DepositPages(services.projects, services.snapshots, services.deposits, forms.csrf, views),
        AnswerFieldPages(services.projects, services.answer_fields, forms, views),
        UpdatePages(services.projects, services.thumbnails, services.webhooks, services.records, forms, views),
        PicturePages(services.projects, services.project_pictures, forms, views),
        FieldGuidePages(services.projects, guides, views),
        GuideEditorPages(services.projects, GuideVersions(services.db), guides, previews, forms, views),
        EditorPages(services.projects, previews, questions, frames, forms, views),
        QuestionCheckPages(services.projects, builder),
        InvitationPages(services.project_invitations, services.ownership, services.reviewers, forms),
        OwnersPages(services.projects, services.ownership, base_url, forms, views),
        BlogPages(services.projects, services.records, forms, views),
        DeletingPages(services.projects, services.records, forms, views),
        ProjectAuditPages(services.projects, views),
    ]


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
            return await core_statements.add_requests(
                services.db, services.secrets.digest("rate", repr((name, key))), end, more
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
        *account_pages(services, forms, volunteers),
        ParticipationPages(services.accounts, services.participation, services.favourites, forms),
        CollectionPages(services.accounts, services.collections, forms, services.settings.base_url),
        *project_pages(services, forms, cookies, templates, left_out),
        StatisticsPages(services.statistics, services.accounts),
        AboutPages(settings.site, services.site, services.prose),
        SiteStyle(services.site),
        SecurityTxt(settings.site.security_contact, settings.base_url, partial(epoch_seconds, clock)),
        Announcements(services.records, services.prose),
        *admin_pages(services, forms, left_out),
        UploadPages(services.uploads, services.media_store, services.file_access),
    ]
