"""The services of crowdd as one object: what pages, API, jobs and command line share.

``Shared`` is what the services of one process share whatever their connections and settings, and ``People`` everything
about people with accounts.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from urllib.parse import urlsplit

import attrs

from crowdd.core.change_notifier import ChangeNotifier
from crowdd.core.mail.backend import Post, post
from crowdd.core.mail.mail import Mail
from crowdd.core.mail.message import MailRenderer, Sender
from crowdd.core.outbound.client import Outgoing
from crowdd.core.pictures import Avatars
from crowdd.core.quotas import Attempts, Quota
from crowdd.core.records.history import History
from crowdd.core.records.records import Behaviour, Records, RecordTexts
from crowdd.core.secrets import Secrets
from crowdd.core.security_log import SecurityLog
from crowdd.core.site import Exposure, Site, SiteState
from crowdd.core.text.rendered_text import Prose
from crowdd.core.uploads import Uploads
from crowdd.database.access import Reading, Transactions
from crowdd.database.connector import list_session_settings
from crowdd.database.copying import Copies
from crowdd.database.pool import SlowReads
from crowdd.features.accounts import statements as account_statements
from crowdd.features.accounts.accounts import Accounts, Administrators, UserBehaviour
from crowdd.features.accounts.email_links import EmailLinks
from crowdd.features.accounts.invitations import Invitations
from crowdd.features.accounts.passwords import PasswordPolicy, Passwords
from crowdd.features.accounts.sessions import Sessions
from crowdd.features.analyses.analyses import Analyses
from crowdd.features.analyses.runner import AnalysisRunner
from crowdd.features.batches.batches import Batches
from crowdd.features.batches.incoming_files import IncomingFiles
from crowdd.features.batches.runner import BatchRunner
from crowdd.features.community.collections import Collections
from crowdd.features.community.favourites import Favourites, Participation
from crowdd.features.exports.exports import Exports, Resources
from crowdd.features.exports.spools import DownloadLimits, KeptSpools, Spools
from crowdd.features.gallery.gallery import Gallery
from crowdd.features.gallery.saving import TemplateMaker
from crowdd.features.imports.imports import Imports
from crowdd.features.imports.sources import Sources
from crowdd.features.media.preparation import LimitedPreparation
from crowdd.features.media.prepared import MediaPreparation
from crowdd.features.media.store import MediaNames, MediaStore
from crowdd.features.media.stores import media_store as configured_media_store
from crowdd.features.operations.audit_chain import PURPOSE as AUDIT_CHAIN
from crowdd.features.operations.audit_chain import AuditChain
from crowdd.features.operations.backups import ScheduledBackups
from crowdd.features.operations.retention import Retention
from crowdd.features.people.account_deletion import AccountDeletion
from crowdd.features.people.personal_data import PersonalData
from crowdd.features.people.profiles import Profiles, UserList
from crowdd.features.presenters.overview import ProjectOverviews
from crowdd.features.projects.external_users import ExternalUsers
from crowdd.features.projects.files import FileAccess, MediaBehaviour
from crowdd.features.projects.ownership import Ownership, ProjectInvitations, SettingsOverview
from crowdd.features.projects.pictures import ProjectPictures, Thumbnails
from crowdd.features.projects.posters import Posters
from crowdd.features.projects.project_lists import Palette, ProjectLists
from crowdd.features.projects.projects import ProjectBehaviour, Projects
from crowdd.features.publishing.publishing import PublishingChecks
from crowdd.features.questions.answer_fields import AnswerFields
from crowdd.features.questions.questions import QuestionReviews
from crowdd.features.results.comparing_process import ComparingProcess
from crowdd.features.results.comparisons import Comparisons
from crowdd.features.results.results import FinishedTasks, Results
from crowdd.features.signin.access_revocation import Revoking
from crowdd.features.signin.answer_claims import AnswerClaims
from crowdd.features.signin.api_tokens import ApiTokens
from crowdd.features.signin.email_confirmation import EmailConfirmation
from crowdd.features.signin.passkeys import Passkeys, RelyingParty
from crowdd.features.signin.password_reset import Recovery
from crowdd.features.signin.providers import Provider, Providers, build_providers
from crowdd.features.signin.same_person import SamePerson
from crowdd.features.signin.second_factors import RecoveryCodes, SecondFactors, Totp
from crowdd.features.signin.sign_in import NewDevices, SigningIn
from crowdd.features.signin.social_login import SocialLogin
from crowdd.features.site.administration import Administration, CategoryBehaviour
from crowdd.features.site.site_administration import SiteAdministration
from crowdd.features.snapshots.deposits import Deposits
from crowdd.features.snapshots.differences import Differences
from crowdd.features.snapshots.runner import SnapshotRunner
from crowdd.features.snapshots.snapshots import Snapshots
from crowdd.features.statistics.live_updates import Live
from crowdd.features.statistics.statistics import Statistics
from crowdd.features.tasks.barring import Barring
from crowdd.features.tasks.changes import Changes
from crowdd.features.tasks.comments import Comments
from crowdd.features.tasks.contributions import Contributions, TaskRunBehaviour
from crowdd.features.tasks.leases import Leases
from crowdd.features.tasks.sample_tasks import SampleTasks
from crowdd.features.tasks.task_list import Browsing
from crowdd.features.tasks.tasks import TaskBehaviour
from crowdd.features.tasks.volunteers import Volunteers
from crowdd.features.trust.adaptive import AdaptiveRedundancy, TrustOverview
from crowdd.features.trust.gold import Gold
from crowdd.features.trust.review import Reviewers, ReviewQueue
from crowdd.features.webhooks.webhooks import Webhooks
from crowdd.kernel.concurrency.batching import Batcher, BatcherFactory
from crowdd.kernel.concurrency.throttling import Turns
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.config import Settings
from crowdd.kernel.languages import Languages
from crowdd.kernel.reactor import IReactor, epoch_seconds
from crowdd.kinds import KINDS
from crowdd.sched.queue import Queue
from crowdd.sched.statistics import Checking


@attrs.frozen
class People:
    """What pages do with accounts beside ``features.accounts.accounts``."""

    worker_thread: WorkerThread
    policy: PasswordPolicy
    providers: Providers
    social_login: SocialLogin
    sessions: Sessions
    signing_in: SigningIn
    profiles: Profiles
    avatars: Avatars
    answer_claims: AnswerClaims
    same_person: SamePerson
    user_list: UserList
    recovery: Recovery
    email_confirmation: EmailConfirmation
    personal_data: PersonalData
    account_deletion: AccountDeletion
    second_factors: SecondFactors
    api_tokens: ApiTokens
    new_devices: NewDevices
    now: Callable[[], Awaitable[float]]  # epoch seconds of the database's clock


def build_people(
    db: Transactions,
    new_batcher: BatcherFactory,
    settings: Settings,
    secrets: Secrets,
    passwords: Passwords,
    policy: PasswordPolicy,
    attempts: Attempts,
    worker_thread: WorkerThread,
    uploads: Uploads,
    notify: Callable[[int], None],
    social_providers: Mapping[str, Provider],
    accounts: Accounts,
    queue: Queue,
    mail: Mail,
    security_log: SecurityLog,
    site: Site,
    invitations: Invitations,
) -> People:
    """The people on a database."""
    signing_in = SigningIn(db, passwords, attempts, settings.accounts, security_log)
    social_login = SocialLogin(db, accounts, secrets, invitations)
    front = settings.http.spa_base_url or settings.base_url
    email_links = EmailLinks(mail, secrets, front, settings.accounts.link_hours)
    exports = PersonalData(db, queue, uploads, worker_thread.another(), email_links, settings.data.dir / "exports")
    email_confirmation = EmailConfirmation(
        db, accounts, social_login, passwords, email_links, attempts, settings, security_log, invitations
    )
    revoking = Revoking(accounts, security_log)
    party = RelyingParty.of(settings.base_url, site.name, settings.http.allowed_origins)
    factors = SecondFactors(
        db,
        Totp(db, secrets, site.name),
        Passkeys(db, secrets, party),
        RecoveryCodes(db, secrets, email_links, security_log),
        attempts,
        email_links,
        settings.accounts.max_login_failures,
        security_log,
    )
    return People(
        worker_thread=worker_thread,
        policy=policy,
        sessions=Sessions(db, new_batcher, secrets, settings.accounts.session_days, settings.accounts.session_max_days),
        providers=Providers(db, social_providers, settings.base_url),
        social_login=social_login,
        signing_in=signing_in,
        profiles=Profiles(db, passwords, policy, signing_in, email_confirmation, email_links, revoking, security_log),
        avatars=Avatars(db, worker_thread, uploads, settings.base_url),
        answer_claims=AnswerClaims(db, queue, notify),
        same_person=SamePerson(db, notify),
        user_list=UserList(db),
        recovery=Recovery(
            db, passwords, policy, email_links, revoking, attempts, queue, settings.accounts, security_log
        ),
        email_confirmation=email_confirmation,
        personal_data=exports,
        account_deletion=AccountDeletion(db, queue, uploads, secrets, exports, notify),
        second_factors=factors,
        api_tokens=ApiTokens(db, new_batcher, secrets, security_log),
        new_devices=NewDevices(db, email_links),
        now=partial(account_statements.read_time, db),
    )


# Lists that may read a large part of a table: so many at a time, and never on more than half of the processors.
MAX_SLOW_READS, SEARCH_WAIT_SECONDS = 2, 3.0
STRANGER_SECONDS = 2  # for a statement of such a list, without an account
PRELOAD_WAIT_SECONDS = 5.0
COPY_SECONDS = 600  # for each statement that begins a file
EXPORT_PAUSE = 0.5  # after each piece of a file that is made, as a share of the time that it took


@attrs.frozen
class OtherServers:
    """The ways to other servers, which settings decide about."""

    outgoing: Outgoing
    providers: Mapping[str, Provider]
    post: Post | None  # none: e-mails are kept

    @classmethod
    def of(cls, reactor: IReactor, settings: Settings) -> OtherServers:
        """As the settings say."""
        outgoing = Outgoing(reactor, settings.outgoing.allowed_hosts)
        return cls(
            outgoing, build_providers(settings.signin, outgoing), post(reactor, settings.mail, host_of(settings))
        )


@attrs.frozen
class Shared:
    """What rules on other connections or by other settings share: what is kept in memory, and the threads."""

    secrets: Secrets
    security_log: SecurityLog
    seconds: Callable[[], float]
    change_notifier: ChangeNotifier
    slow_reads: SlowReads
    preloads: Turns
    export_resources: Resources
    new_batcher: BatcherFactory
    passwords: Passwords
    worker_thread: WorkerThread
    media_store: MediaStore
    media_thread: WorkerThread
    languages: Languages
    site_state: SiteState
    servers: OtherServers

    @classmethod
    def begin(
        cls,
        reactor: IReactor,
        db: Transactions,
        settings: Settings,
        secrets: Secrets,
        reading: Reading,
        slow_db: Reading,
    ) -> Shared:
        """Nothing is running yet. ``reading``: what files are read by; ``slow_db``: what slow lists are read by."""
        refusal = "Too many clients request many tasks at once. Use a smaller limit."
        return cls(
            secrets=secrets,
            security_log=SecurityLog(reactor, db, secrets),
            seconds=partial(epoch_seconds, reactor),
            change_notifier=ChangeNotifier(reactor),
            slow_reads=SlowReads(
                slow_db,
                Turns(reactor, max_slow_reads(settings), SEARCH_WAIT_SECONDS),
                min(STRANGER_SECONDS, settings.db.slow_read_timeout),
            ),
            preloads=Turns(reactor, 1, PRELOAD_WAIT_SECONDS, rest=1.0, refusal=refusal),
            export_resources=Resources(
                reading,
                Copies(reactor, settings.db.dsn, list_session_settings(COPY_SECONDS), settings.db.replica_dsn),
                Turns(reactor, 1, None, rest=EXPORT_PAUSE),
                DownloadLimits(reactor, settings.exports),
                KeptSpools(reactor),
            ),
            new_batcher=partial(Batcher, reactor, max_queue=settings.db.max_queue),
            passwords=Passwords(reactor, threads=max(1, (os.cpu_count() or 1) // 2)),
            worker_thread=WorkerThread(reactor),
            media_store=configured_media_store(reactor, settings.media, settings.data.dir / "uploads"),
            media_thread=WorkerThread(reactor),
            languages=Languages.read(),
            site_state=SiteState(),
            servers=OtherServers.of(reactor, settings),
        )

    def with_settings(self, reactor: IReactor, settings: Settings) -> Shared:
        """The same, but for the ways to other servers."""
        return attrs.evolve(self, servers=OtherServers.of(reactor, settings))


def max_slow_reads(settings: Settings) -> int:
    """How many lists that may cost much are read at a time."""
    return max(1, min(MAX_SLOW_READS, settings.db.pool_size // 4, (os.cpu_count() or 1) // 2))


def host_of(settings: Settings) -> str:
    """The name under which people know this server."""
    return urlsplit(settings.base_url).hostname or "localhost"


@attrs.frozen
class Services:
    """Built once per program (``crowdd.core.base``); every collaborator comes from there."""

    db: Transactions
    seconds: Callable[[], float]
    change_notifier: ChangeNotifier
    slow_reads: SlowReads
    export_resources: Resources
    settings: Settings
    languages: Languages
    secrets: Secrets
    security_log: SecurityLog
    passwords: Passwords
    records: Records
    record_texts: RecordTexts
    exposure: Exposure
    accounts: Accounts
    people: People
    administration: Administration
    site: Site
    site_administration: SiteAdministration
    invitations: Invitations
    projects: Projects
    ownership: Ownership
    palette: Palette
    question_reviews: QuestionReviews
    project_lists: ProjectLists
    thumbnails: Thumbnails
    posters: Posters
    publishing_checks: PublishingChecks
    live: Live
    external: ExternalUsers
    contributions: Contributions
    results: Results
    history: History
    leases: Leases
    favourites: Favourites
    collections: Collections
    comments: Comments
    answer_fields: AnswerFields
    comparisons: Comparisons
    reviews: ReviewQueue
    reviewers: Reviewers
    project_invitations: ProjectInvitations
    trust_overview: TrustOverview
    adaptive: AdaptiveRedundancy
    participation: Participation
    uploads: Uploads
    media_store: MediaStore
    media_names: MediaNames
    media_preparation: MediaPreparation
    file_access: FileAccess
    prose: Prose
    quota: Quota
    outgoing: Outgoing
    new_batcher: BatcherFactory
    webhooks: Webhooks
    queue: Queue
    changes: Changes
    barring: Barring
    gold: Gold
    volunteers: Volunteers
    analyses: Analyses
    browsing: Browsing
    finished_tasks: FinishedTasks
    project_overviews: ProjectOverviews
    project_pictures: ProjectPictures
    settings_overview: SettingsOverview
    exports: Exports
    imports: Imports
    gallery: Gallery
    template_maker: TemplateMaker
    sample_tasks: SampleTasks
    media_batches: Batches
    sources: Sources
    snapshots: Snapshots
    deposits: Deposits
    statistics: Statistics
    checking: Checking
    audit_chain: AuditChain
    retention: Retention
    backups: ScheduledBackups
    mail: Mail
    shared: Shared = attrs.field(repr=False)

    def with_database(self, db: Transactions) -> Services:
        """The same rules on other connections; what is kept in memory is shared."""
        return _assemble(db, self.settings, self.shared)

    def with_settings(self, reactor: IReactor, settings: Settings) -> Services:
        """The same rules by other settings; what is kept in memory is shared, but for the ways to other servers."""
        return _assemble(self.db, settings, self.shared.with_settings(reactor, settings))


def build(
    reactor: IReactor,
    db: Transactions,
    settings: Settings,
    secrets: Secrets,
    reading: Reading | None = None,
    slow_db: Reading | None = None,
) -> Services:
    """The domain on a database. ``reading``: what files are read by; ``slow_db``: what slow lists are read by.

    Without them the database itself is.
    """
    shared = Shared.begin(reactor, db, settings, secrets, db if reading is None else reading, slow_db or db)
    return _assemble(db, settings, shared)


def _assemble(db: Transactions, settings: Settings, shared: Shared) -> Services:
    secrets, security_log, passwords = shared.secrets, shared.security_log, shared.passwords
    notify, new_batcher, worker_thread = shared.change_notifier.notify, shared.new_batcher, shared.worker_thread
    export_resources, media_store, servers = shared.export_resources, shared.media_store, shared.servers
    uploads = Uploads(settings.data.dir / "uploads", secrets.key("names of files"))
    queue = Queue(db, notify)
    prose = Prose(db, worker_thread)
    site = Site(db, shared.site_state, settings, prose)
    webhooks, quota = Webhooks(db, notify, secrets, servers.outgoing), Quota(settings.quota, site)
    letters = MailRenderer(shared.languages, site.name, settings.base_url)
    sender = Sender(site.name, settings.mail.sender, host_of(settings))
    mail = Mail(db, letters, sender, servers.post, settings.mail.keep_days)
    administrators = Administrators(security_log, mail)
    special = [
        ProjectBehaviour(secrets, webhooks, queue, quota),
        TaskBehaviour(),
        TaskRunBehaviour(),
        UserBehaviour(administrators),
        CategoryBehaviour(),
        *(MediaBehaviour(kind, settings.base_url) for kind in KINDS.values() if kind.files),
    ]
    behaviours = {name: Behaviour(kind) for name, kind in KINDS.items()} | {each.kind.name: each for each in special}
    finished_tasks, settings_overview = FinishedTasks(db), SettingsOverview(db)
    base, pause = settings.base_url, worker_thread.pause
    records = Records(db, notify, secrets, uploads, base, behaviours, shared.slow_reads, prose, quota, pause)
    exposure = Exposure(db, new_batcher)
    attempts, policy = Attempts(db, secrets), PasswordPolicy(passwords, settings, site.name)
    invitations = Invitations(db, secrets, mail)
    accounts = Accounts(
        db,
        new_batcher,
        passwords,
        policy,
        attempts,
        secrets,
        security_log,
        administrators,
        site,
        invitations,
    )
    open_reads = settings.volunteers.open_external_uid
    external = ExternalUsers(db, new_batcher, secrets, settings.external.token_hours, open_reads=open_reads)
    contributions = Contributions(
        db,
        new_batcher,
        notify,
        external,
        records,
        secrets,
        shared.seconds,
        quota,
        shared.preloads,
        keep_circumstances=settings.volunteers.keep_circumstances,
    )
    changes = Changes(db, notify, queue)
    projects = Projects(db, notify, passwords, attempts, quota)
    trust_overview = TrustOverview(db, worker_thread.another())
    spools = Spools(settings.data.dir / "spool", settings.data.min_free_bytes)
    incoming = IncomingFiles(settings.data.dir / "media", settings.data.min_free_bytes)
    media_names, media_thread = MediaNames(uploads.key), worker_thread.another()
    preparation = LimitedPreparation(shared.media_thread, settings.media)
    batch_runner = BatchRunner(
        db,
        notify,
        incoming,
        media_thread,
        preparation,
        media_store,
        media_names,
        quota,
        settings.uploads,
    )
    analysis_runner = AnalysisRunner(
        db,
        notify,
        export_resources.turns,
        worker_thread.another(),
        shared.seconds,
        settings.data.dir / "analyses",
    )
    imports = Imports(
        db,
        notify,
        queue,
        servers.outgoing,
        worker_thread.another(),
        settings.data.dir / "imports",
        settings.http.max_import_bytes,
        quota,
        secrets,
        changes,
        site,
    )
    exports = Exports(db, export_resources, spools, settings.base_url, secrets.key("mask"), worker_thread.another())
    audit_chain = AuditChain(db, secrets.key(AUDIT_CHAIN))
    snapshot_runner = SnapshotRunner(
        db,
        export_resources,
        worker_thread.another(),
        media_store,
        media_names,
        quota,
        audit_chain.head,
        site.name,
        settings.base_url,
        settings.data.dir / "snapshots",
        settings.data.min_free_bytes,
    )
    differences = Differences(
        media_store, worker_thread.another(), settings.data.dir / "differences", settings.data.min_free_bytes
    )
    snapshots = Snapshots(db, queue, exports, export_resources, media_store, snapshot_runner, differences)
    comparing = ComparingProcess(worker_thread.another())
    gold = Gold(db, notify, changes, comparing)
    project_invitations = ProjectInvitations(db, secrets)
    return Services(
        db=db,
        seconds=shared.seconds,
        change_notifier=shared.change_notifier,
        slow_reads=shared.slow_reads,
        export_resources=export_resources,
        settings=settings,
        languages=shared.languages,
        secrets=secrets,
        security_log=security_log,
        passwords=passwords,
        records=records,
        exposure=exposure,
        record_texts=RecordTexts(db, new_batcher, records, secrets, exposure),
        accounts=accounts,
        people=build_people(
            db,
            new_batcher,
            settings,
            secrets,
            passwords,
            policy,
            attempts,
            worker_thread,
            uploads,
            notify,
            servers.providers,
            accounts,
            queue,
            mail,
            security_log,
            site,
            invitations,
        ),
        administration=Administration(db, security_log),
        site=site,
        site_administration=SiteAdministration(db, site, notify, uploads, worker_thread, prose, mail, accounts),
        invitations=invitations,
        projects=projects,
        ownership=Ownership(db, secrets, accounts, attempts, project_invitations),
        project_lists=ProjectLists(db),
        palette=Palette(db),
        question_reviews=QuestionReviews(db),
        thumbnails=Thumbnails(db, worker_thread, uploads, settings.base_url, quota),
        posters=Posters(worker_thread.another(), uploads, site.name),
        publishing_checks=PublishingChecks(db),
        live=Live(db),
        external=external,
        contributions=contributions,
        results=Results(db, notify, quota, worker_thread, settings.base_url),
        history=History(db, records, shared.slow_reads, settings.history.days),
        leases=Leases(db, notify, contributions),
        favourites=Favourites(db, records),
        collections=Collections(db, records),
        comments=Comments(db, records, contributions),
        answer_fields=AnswerFields(db, projects),
        comparisons=Comparisons(db, notify, comparing),
        reviews=ReviewQueue(db, records, notify, gold),
        reviewers=Reviewers(db, accounts, project_invitations),
        project_invitations=project_invitations,
        trust_overview=trust_overview,
        adaptive=AdaptiveRedundancy(changes, trust_overview),
        participation=Participation(db),
        uploads=uploads,
        media_store=media_store,
        media_names=media_names,
        media_preparation=preparation,
        file_access=FileAccess(db, secrets, shared.seconds),
        prose=prose,
        quota=quota,
        outgoing=servers.outgoing,
        new_batcher=new_batcher,
        webhooks=webhooks,
        queue=queue,
        changes=changes,
        barring=Barring(db, notify, queue, changes),
        gold=gold,
        volunteers=Volunteers(db, changes),
        analyses=Analyses(db, queue, changes, analysis_runner),
        browsing=Browsing(db, records),
        finished_tasks=finished_tasks,
        project_overviews=ProjectOverviews(db, finished_tasks, settings_overview, AnswerFields(db, projects)),
        project_pictures=ProjectPictures(records, settings.base_url),
        settings_overview=settings_overview,
        exports=exports,
        snapshots=snapshots,
        deposits=Deposits(db, queue, snapshots, media_store, servers.outgoing, secrets, settings.base_url),
        imports=imports,
        sources=Sources(db, notify, queue, servers.outgoing, imports, mail),
        gallery=Gallery(db),
        template_maker=TemplateMaker(records, uploads, worker_thread.do, settings.base_url),
        sample_tasks=SampleTasks(db, changes),
        media_batches=Batches(
            db,
            notify,
            queue,
            incoming,
            media_thread,
            settings.uploads,
            settings.quota,
            batch_runner,
            changes,
            site,
        ),
        statistics=Statistics(db, records),
        checking=Checking(db),
        audit_chain=audit_chain,
        retention=Retention(db, audit_chain, settings.retention),
        backups=ScheduledBackups(settings, worker_thread.another()),
        mail=mail,
        shared=shared,
    )
