"""The rules of crowdd as one object: what pages, API, jobs and command line share."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import attrs

from crowdd.config import Settings
from crowdd.domain.accounts import Accounts, UserBehaviour
from crowdd.domain.administration import Administration, CategoryBehaviour
from crowdd.domain.bell import Bell
from crowdd.domain.browsing import Browsing
from crowdd.domain.changes import Changes
from crowdd.domain.check import Checking
from crowdd.domain.contributions import Contributions, TaskRunBehaviour
from crowdd.domain.exports import Exports
from crowdd.domain.external import ExternalUsers
from crowdd.domain.favourites import Favourites
from crowdd.domain.gather import Gather, Gathering
from crowdd.domain.imports import Imports
from crowdd.domain.leases import Leases
from crowdd.domain.live import Live
from crowdd.domain.mail.letters import Letters
from crowdd.domain.mail.mail import Mail
from crowdd.domain.mail.message import Sender
from crowdd.domain.mail.post import Post, post
from crowdd.domain.media import MediaBehaviour
from crowdd.domain.outgoing import Outgoing
from crowdd.domain.ownership import Ownership
from crowdd.domain.passwords import Passwords
from crowdd.domain.people.people import People, gather
from crowdd.domain.people.providers import Provider, configured
from crowdd.domain.people.workshop import Workshop
from crowdd.domain.projects import ProjectBehaviour, Projects
from crowdd.domain.prose import Prose
from crowdd.domain.queue import Queue
from crowdd.domain.quota import Quota
from crowdd.domain.records import Behaviour, Records
from crowdd.domain.secrets import Secrets
from crowdd.domain.shelves import Shelves
from crowdd.domain.statistics import Statistics
from crowdd.domain.tasks import TaskBehaviour
from crowdd.domain.thumbnails import Thumbnails
from crowdd.domain.uploads import Uploads
from crowdd.domain.webhooks import Webhooks
from crowdd.kinds import KINDS
from crowdd.languages import Languages
from crowdd.storage.database import Transactions


@attrs.frozen
class Domain:
    """Built once per program (``crowdd.domain.assembly``); every collaborator comes from there."""

    db: Transactions
    bell: Bell
    settings: Settings
    languages: Languages
    secrets: Secrets
    passwords: Passwords
    records: Records
    accounts: Accounts
    people: People
    administration: Administration
    projects: Projects
    ownership: Ownership
    shelves: Shelves
    thumbnails: Thumbnails
    live: Live
    external: ExternalUsers
    contributions: Contributions
    leases: Leases
    favourites: Favourites
    uploads: Uploads
    prose: Prose
    quota: Quota
    outgoing: Outgoing
    gathering: Gathering
    webhooks: Webhooks
    queue: Queue
    changes: Changes
    browsing: Browsing
    exports: Exports
    imports: Imports
    statistics: Statistics
    checking: Checking
    mail: Mail

    def on(self, db: Transactions) -> Domain:
        """The same rules on other connections; what is kept in memory is shared."""
        kept = (
            self.bell,
            self.gathering,
            self.passwords,
            self.outgoing,
            self.people.workshop,
            self.people.providers.found,
            self.languages,
            self.mail.post,
        )
        return _assemble(db, self.settings, self.secrets, *kept)

    def under(self, reactor: Any, settings: Settings) -> Domain:
        """The same rules by other settings; what is kept in memory is shared, but for the ways to other servers."""
        outgoing = Outgoing(reactor, settings.outgoing.allowed_hosts)
        return _assemble(
            self.db,
            settings,
            self.secrets,
            self.bell,
            self.gathering,
            self.passwords,
            outgoing,
            self.people.workshop,
            configured(settings.signin, outgoing),
            self.languages,
            post(reactor, settings.mail, host_of(settings)),
        )


def build(reactor: Any, db: Transactions, settings: Settings, secrets: Secrets) -> Domain:
    """The domain on a database."""
    outgoing = Outgoing(reactor, settings.outgoing.allowed_hosts)
    gathering = partial(Gather, reactor, most_waiting=settings.db.most_waiting)
    kept = Bell(reactor), gathering, Passwords(reactor), outgoing, Workshop(reactor)
    away = post(reactor, settings.mail, host_of(settings))
    return _assemble(db, settings, secrets, *kept, configured(settings.signin, outgoing), Languages.read(), away)


def _assemble(
    db: Transactions,
    settings: Settings,
    secrets: Secrets,
    bell: Bell,
    gathering: Gathering,
    passwords: Passwords,
    outgoing: Outgoing,
    workshop: Workshop,
    providers: Mapping[str, Provider],
    languages: Languages,
    away: Post | None,
) -> Domain:
    uploads, queue = Uploads(settings.data.dir / "uploads"), Queue(db)
    webhooks, quota = Webhooks(db, bell.ring, secrets), Quota(settings.quota)
    special = [
        ProjectBehaviour(secrets, webhooks, queue, quota),
        TaskBehaviour(),
        TaskRunBehaviour(),
        UserBehaviour(),
        CategoryBehaviour(),
        *(MediaBehaviour(kind, settings.base_url) for kind in KINDS.values() if kind.files),
    ]
    behaviours = {name: Behaviour(kind) for name, kind in KINDS.items()} | {each.kind.name: each for each in special}
    prose = Prose(db, workshop)
    records = Records(db, bell.ring, secrets, uploads, settings.base_url, behaviours, prose, quota)
    letters = Letters(languages, settings.site.name, settings.base_url)
    sender = Sender(settings.site.name, settings.mail.sender, host_of(settings))
    mail = Mail(db, letters, sender, away, settings.mail.keep_days)
    accounts = Accounts(db, gathering, passwords, secrets, settings.accounts)
    external = ExternalUsers(db, gathering, secrets, settings.external.token_hours)
    contributions = Contributions(db, gathering, bell.ring, external, records, quota)
    return Domain(
        db=db,
        bell=bell,
        settings=settings,
        languages=languages,
        secrets=secrets,
        passwords=passwords,
        records=records,
        accounts=accounts,
        people=gather(
            db, gathering, settings, secrets, passwords, workshop, uploads, bell.ring, providers, accounts, queue, mail
        ),
        administration=Administration(db),
        projects=Projects(db, bell.ring, passwords, secrets, quota),
        ownership=Ownership(db, secrets, accounts),
        shelves=Shelves(db),
        thumbnails=Thumbnails(db, workshop, uploads, settings.base_url, quota),
        live=Live(db),
        external=external,
        contributions=contributions,
        leases=Leases(db, bell.ring, contributions),
        favourites=Favourites(db, records),
        uploads=uploads,
        prose=prose,
        quota=quota,
        outgoing=outgoing,
        gathering=gathering,
        webhooks=webhooks,
        queue=queue,
        changes=Changes(db, bell.ring, queue),
        browsing=Browsing(db, records),
        exports=Exports(db, settings.base_url),
        imports=Imports(
            db,
            bell.ring,
            queue,
            outgoing,
            workshop,
            settings.data.dir / "imports",
            settings.http.most_import_bytes,
            quota,
        ),
        statistics=Statistics(db, records),
        checking=Checking(db),
        mail=mail,
    )


def host_of(settings: Settings) -> str:
    """The name under which people know this server."""
    return urlsplit(settings.base_url).hostname or "localhost"
