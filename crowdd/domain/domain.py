"""The rules of crowdd as one object: what pages, API, jobs and command line share."""

from __future__ import annotations

from typing import Any

import attrs

from crowdd.config import Settings
from crowdd.domain.accounts import Accounts, UserBehaviour
from crowdd.domain.contributions import Contributions, TaskRunBehaviour
from crowdd.domain.external import ExternalUsers
from crowdd.domain.favourites import Favourites
from crowdd.domain.media import MediaBehaviour
from crowdd.domain.passwords import Passwords
from crowdd.domain.projects import ProjectBehaviour, Projects
from crowdd.domain.records import Behaviour, Records
from crowdd.domain.secrets import Secrets
from crowdd.domain.tasks import TaskBehaviour
from crowdd.domain.uploads import Uploads
from crowdd.kinds import ANNOUNCEMENT, BLOGPOST, CATEGORY, HELPING_MATERIAL, RESULT
from crowdd.storage.database import Transactions


@attrs.frozen
class Domain:
    """Built once per program (``crowdd.domain.assembly``); every collaborator comes from there."""

    db: Transactions
    settings: Settings
    secrets: Secrets
    passwords: Passwords
    records: Records
    accounts: Accounts
    projects: Projects
    external: ExternalUsers
    contributions: Contributions
    favourites: Favourites
    uploads: Uploads


def build(reactor: Any, db: Transactions, settings: Settings, secrets: Secrets) -> Domain:
    """The domain on a database."""
    passwords = Passwords(reactor)
    uploads = Uploads(settings.data.dir / "uploads")
    behaviours = [
        ProjectBehaviour(secrets),
        TaskBehaviour(),
        TaskRunBehaviour(),
        UserBehaviour(),
        Behaviour(CATEGORY),
        Behaviour(RESULT),
        *(MediaBehaviour(kind, settings.base_url) for kind in (BLOGPOST, ANNOUNCEMENT, HELPING_MATERIAL)),
    ]
    records = Records(
        db, secrets, uploads, settings.base_url, {behaviour.kind.name: behaviour for behaviour in behaviours}
    )
    external = ExternalUsers(db, secrets, settings.external.token_hours)
    return Domain(
        db=db,
        settings=settings,
        secrets=secrets,
        passwords=passwords,
        records=records,
        accounts=Accounts(db, passwords, secrets, settings.accounts),
        projects=Projects(db, passwords, secrets),
        external=external,
        contributions=Contributions(db, external, records),
        favourites=Favourites(db, records),
        uploads=uploads,
    )
