"""The pages and the API of projects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import attrs

from crowdd.core.base import Base
from crowdd.features.accounts.feature import AccountsFeature
from crowdd.features.media.feature import MediaFeature
from crowdd.features.projects import papers
from crowdd.features.projects.api import QueueApi
from crowdd.features.projects.background_task_pages import WorkPages
from crowdd.features.projects.blog_pages import BlogPages
from crowdd.features.projects.feature import ProjectsFeature
from crowdd.features.projects.feed_pages import FeedPages
from crowdd.features.projects.file_pages import PicturePages, UploadPages
from crowdd.features.projects.form_pages import DeletingPages, PasswordPages, UpdatePages
from crowdd.features.projects.helper_pages import HelperPages, InvitationPages
from crowdd.features.projects.list_pages import ProjectListPages
from crowdd.features.projects.owner_pages import OwnersPages, ProjectAuditPages
from crowdd.features.projects.palette_pages import PalettePages
from crowdd.features.projects.settings_pages import ProjectSettingsPages
from crowdd.features.projects.sharing_pages import CardPages, SharingPages
from crowdd.features.projects.views import LeftOut, ProjectViews
from crowdd.http.html.forms import setting_names
from crowdd.http.routing import View
from crowdd.http.web import FeatureWeb, Web
from crowdd.sched.feature import Scheduling


@attrs.frozen
class ProjectsWeb(FeatureWeb):
    """Projects in the browser and over REST."""

    web: Web
    base: Base
    accounts: AccountsFeature
    media: MediaFeature
    projects: ProjectsFeature
    scheduling: Scheduling

    @staticmethod
    def template_functions() -> Mapping[str, Callable[..., object]]:
        """The papers of a project, by its ``info``."""
        return {"papers_of": papers.known}

    @property
    def left_out(self) -> LeftOut:
        """What finds pictures that texts of this site do not show."""
        return LeftOut(self.base.prose, self.base.base_url)

    @property
    def project_views(self) -> ProjectViews:
        """The frame of the pages of a project."""
        base = self.base
        return ProjectViews(
            base.records,
            self.accounts.accounts,
            base.prose,
            self.projects.project_pictures,
            self.left_out,
            base.base_url,
        )

    def views(self) -> Iterator[View]:
        base, projects, forms, views = self.base, self.projects.projects, self.web.forms, self.project_views
        records, queue, languages = base.records, self.scheduling.queue, base.languages
        yield QueueApi(queue)
        yield PalettePages(self.projects.palette, languages, setting_names(self.web.templates.environment))
        yield CardPages(projects, records, self.web.templates)
        yield SharingPages(projects, self.projects.posters, languages, views)
        yield PasswordPages(projects, forms, self.web.cookies)
        yield WorkPages(projects, queue, forms.csrf, views)
        yield ProjectListPages(self.projects.project_lists)
        yield ProjectSettingsPages(projects, self.projects.ownership, self.projects.settings_overview, forms, views)
        yield UpdatePages(projects, self.projects.thumbnails, base.outgoing, records, forms, views)
        yield PicturePages(projects, self.projects.project_pictures, forms, views)
        yield OwnersPages(projects, self.projects.ownership, base.base_url, forms, views)
        helpers = self.projects.reviewers, self.projects.translators
        for each in helpers:
            yield HelperPages(projects, each, base.base_url, forms, views)
        yield InvitationPages(self.projects.project_invitations, self.projects.ownership, helpers, forms)
        yield BlogPages(projects, records, forms, views)
        yield FeedPages(projects, self.projects.project_lists, views)
        yield DeletingPages(projects, records, forms, views)
        yield ProjectAuditPages(projects, views)
        yield UploadPages(base.uploads, self.media.media_store, self.projects.file_access)
