"""The pages and the API of snapshots."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from crowdd.core.base import Base
from crowdd.features.projects.feature import ProjectsFeature
from crowdd.features.projects.web import ProjectsWeb
from crowdd.features.snapshots.api import DepositsApi, SnapshotsApi
from crowdd.features.snapshots.feature import SnapshotsFeature
from crowdd.features.snapshots.pages import DepositPages, DifferencePages, SnapshotPages
from crowdd.http.routing import View
from crowdd.http.web import FeatureWeb, Web


@attrs.frozen
class SnapshotsWeb(FeatureWeb):
    """Snapshots in the browser and over REST."""

    web: Web
    base: Base
    projects: ProjectsFeature
    snapshots: SnapshotsFeature
    project_pages: ProjectsWeb

    def views(self) -> Iterator[View]:
        base, projects, views = self.base, self.projects.projects, self.project_pages.project_views
        snapshots, deposits = self.snapshots.snapshots, self.snapshots.deposits
        yield SnapshotsApi(snapshots, projects, base.records, base.base_url)
        yield DepositsApi(deposits)
        yield SnapshotPages(projects, snapshots, self.web.csrf, views)
        yield DifferencePages(projects, snapshots, views)
        yield DepositPages(projects, snapshots, deposits, self.web.csrf, views)
