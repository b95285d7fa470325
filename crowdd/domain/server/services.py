"""The rules of crowdd as one object: what pages, API, jobs and command line share."""

from __future__ import annotations

from collections.abc import Callable

import attrs

from crowdd.concurrency.batching import BatcherFactory
from crowdd.config import Settings
from crowdd.domain.accounts.accounts import Accounts, UserBehaviour
from crowdd.domain.accounts.administrators import Administrators
from crowdd.domain.accounts.authentication.password_policy import PasswordPolicy
from crowdd.domain.accounts.authentication.passwords import Passwords
from crowdd.domain.accounts.external_users import ExternalUsers
from crowdd.domain.accounts.invitations import Invitations
from crowdd.domain.accounts.people import People, build_people
from crowdd.domain.analyses.analyses import Analyses
from crowdd.domain.analyses.runner import AnalysisRunner
from crowdd.domain.core.attempt_limits import Attempts
from crowdd.domain.core.background_queue import Queue
from crowdd.domain.core.change_notifier import ChangeNotifier
from crowdd.domain.core.exposure import Exposure
from crowdd.domain.core.quota import Quota
from crowdd.domain.core.record_texts import RecordTexts
from crowdd.domain.core.records import Behaviour, Records
from crowdd.domain.core.secrets import Secrets
from crowdd.domain.core.security_log import SecurityLog
from crowdd.domain.core.site import Site
from crowdd.domain.core.text.rendered_text import Prose
from crowdd.domain.core.uploads import Uploads
from crowdd.domain.mail.mail import Mail
from crowdd.domain.mail.message import Sender
from crowdd.domain.mail.rendering import MailRenderer
from crowdd.domain.media.preparation.process import LimitedPreparation
from crowdd.domain.media.prepared import MediaPreparation
from crowdd.domain.media.store import MediaNames, MediaStore
from crowdd.domain.outbound.client import Outgoing
from crowdd.domain.projects.file_access import FileAccess
from crowdd.domain.projects.live_state import Live
from crowdd.domain.projects.media import MediaBehaviour
from crowdd.domain.projects.ownership import Ownership
from crowdd.domain.projects.palette import Palette
from crowdd.domain.projects.posters.posters import Posters
from crowdd.domain.projects.project_invitations import ProjectInvitations
from crowdd.domain.projects.project_lists import ProjectLists
from crowdd.domain.projects.project_pictures import ProjectPictures
from crowdd.domain.projects.project_settings import SettingsOverview
from crowdd.domain.projects.projects import ProjectBehaviour, Projects
from crowdd.domain.projects.publishing.publishing_checks import PublishingChecks
from crowdd.domain.projects.questions.answer_fields import AnswerFields
from crowdd.domain.projects.questions.reviews import QuestionReviews
from crowdd.domain.projects.statistics import Statistics
from crowdd.domain.projects.thumbnails import Thumbnails
from crowdd.domain.server.administration import Administration, CategoryBehaviour
from crowdd.domain.server.audit_chain import PURPOSE as AUDIT_CHAIN
from crowdd.domain.server.audit_chain import AuditChain
from crowdd.domain.server.backups.scheduled import ScheduledBackups
from crowdd.domain.server.recount import Checking
from crowdd.domain.server.retention import Retention
from crowdd.domain.server.shared import Shared, host_of
from crowdd.domain.server.site_administration import SiteAdministration
from crowdd.domain.tasks.barring import Barring
from crowdd.domain.tasks.changes import Changes
from crowdd.domain.tasks.collections import Collections
from crowdd.domain.tasks.comments import Comments
from crowdd.domain.tasks.contributions import Contributions, TaskRunBehaviour
from crowdd.domain.tasks.favourites import Favourites
from crowdd.domain.tasks.finished_tasks import FinishedTasks
from crowdd.domain.tasks.gold.gold_tasks import Gold
from crowdd.domain.tasks.history import History
from crowdd.domain.tasks.leases import Leases
from crowdd.domain.tasks.outcomes.comparison.process import ComparingProcess
from crowdd.domain.tasks.outcomes.comparisons import Comparisons
from crowdd.domain.tasks.participation import Participation
from crowdd.domain.tasks.project_overview import ProjectOverviews
from crowdd.domain.tasks.results import Results
from crowdd.domain.tasks.review.adaptive import AdaptiveRedundancy
from crowdd.domain.tasks.review.review_queue import ReviewQueue
from crowdd.domain.tasks.review.reviewers import Reviewers
from crowdd.domain.tasks.review.trust_overview import TrustOverview
from crowdd.domain.tasks.task_list import Browsing
from crowdd.domain.tasks.tasks import TaskBehaviour
from crowdd.domain.tasks.volunteers import Volunteers
from crowdd.domain.transfer.deposits.deposits import Deposits
from crowdd.domain.transfer.exports import Exports, Resources
from crowdd.domain.transfer.gallery.gallery import Gallery
from crowdd.domain.transfer.gallery.sample_tasks import SampleTasks
from crowdd.domain.transfer.gallery.saving import TemplateMaker
from crowdd.domain.transfer.imports import Imports
from crowdd.domain.transfer.media_batches.batches import Batches
from crowdd.domain.transfer.media_batches.incoming_files import IncomingFiles
from crowdd.domain.transfer.media_batches.runner import BatchRunner
from crowdd.domain.transfer.scheduled.import_sources import Sources
from crowdd.domain.transfer.snapshots.differences.differences import Differences
from crowdd.domain.transfer.snapshots.runner import SnapshotRunner
from crowdd.domain.transfer.snapshots.snapshots import Snapshots
from crowdd.domain.transfer.spool import Spools
from crowdd.domain.webhooks.webhooks import Webhooks
from crowdd.kinds import KINDS
from crowdd.languages import Languages
from crowdd.reactor import IReactor
from crowdd.storage.connections.slow_reads import SlowReads
from crowdd.storage.database import Reading, Transactions


@attrs.frozen
class Services:
    """Built once per program (``crowdd.domain.server.bootstrap``); every collaborator comes from there."""

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
