"""Projects: their record and life cycle, owners, lists, pictures, settings, blog and files."""

from __future__ import annotations

import attrs

from crowdd.core.base import Base
from crowdd.core.feature import Feature
from crowdd.database.access import Transactions
from crowdd.features.accounts.feature import AccountsFeature
from crowdd.features.projects.external_users import ExternalUsers
from crowdd.features.projects.files import FileAccess, MediaBehaviour
from crowdd.features.projects.helpers import Helpers
from crowdd.features.projects.ownership import Ownership, ProjectInvitations, SettingsOverview
from crowdd.features.projects.parts import ProjectPart
from crowdd.features.projects.pictures import ProjectPictures, Thumbnails
from crowdd.features.projects.posters import Posters
from crowdd.features.projects.project_lists import Palette, ProjectLists
from crowdd.features.projects.projects import SWEEP, ProjectBehaviour, Projects, sweep
from crowdd.kernel.languages import _
from crowdd.kinds import KINDS
from crowdd.sched.feature import Scheduling
from crowdd.sched.job import Handler
from crowdd.sched.queue import QueuedTask


@attrs.frozen
class ProjectsFeature(Feature):
    """What owners and visitors do with projects. ``parts``: what later features add to the record of a project."""

    parts: list[ProjectPart]
    projects: Projects
    ownership: Ownership
    project_invitations: ProjectInvitations
    reviewers: Helpers
    translators: Helpers
    project_lists: ProjectLists
    palette: Palette
    thumbnails: Thumbnails
    posters: Posters
    external: ExternalUsers
    file_access: FileAccess
    project_pictures: ProjectPictures
    settings_overview: SettingsOverview

    @classmethod
    def build(cls, base: Base, scheduling: Scheduling, accounts: AccountsFeature) -> ProjectsFeature:
        db, secrets, settings, thread = base.db, base.secrets, base.settings, base.worker_thread
        parts: list[ProjectPart] = []
        base.set_behaviours(
            ProjectBehaviour(secrets, parts, scheduling.queue, base.quota),
            *(MediaBehaviour(kind, base.base_url) for kind in KINDS.values() if kind.files),
        )
        invitations = ProjectInvitations(db, secrets)
        return cls(
            parts=parts,
            projects=Projects(db, base.notify, accounts.passwords, base.attempts, base.quota, parts),
            ownership=Ownership(db, secrets, accounts.accounts, base.attempts, invitations),
            project_invitations=invitations,
            reviewers=Helpers(db, accounts.accounts, invitations, "reviewer"),
            translators=Helpers(db, accounts.accounts, invitations, "translator"),
            project_lists=ProjectLists(db),
            palette=Palette(db),
            thumbnails=Thumbnails(db, thread, base.uploads, base.base_url, base.quota),
            posters=Posters(thread.another(), base.uploads, base.site.name),
            external=ExternalUsers(
                db,
                base.new_batcher,
                secrets,
                settings.external.token_hours,
                open_reads=settings.volunteers.open_external_uid,
            ),
            file_access=FileAccess(db, secrets, base.shared.seconds),
            project_pictures=ProjectPictures(base.records, base.base_url),
            settings_overview=SettingsOverview(db),
        )


async def _sweep_project(db: Transactions, item: QueuedTask) -> None:
    await sweep(db, item)


# Remove the tasks and answers of a deleted project that had many.
SWEEP_PROJECT_HANDLER = Handler(
    SWEEP,
    lambda house, item: _sweep_project(house.base.db, item),
    title=_("Deletion of a project"),
    note=_("The project is gone from all pages. Its tasks and answers are being removed."),
)
