"""The pages and the API of publishing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import attrs

from crowdd.core.base import Base
from crowdd.features.gallery.feature import GalleryFeature
from crowdd.features.projects.feature import ProjectsFeature
from crowdd.features.projects.web import ProjectsWeb
from crowdd.features.publishing.creation_pages import NewProjectPages
from crowdd.features.publishing.draft_steps import draft_steps, next_step
from crowdd.features.publishing.feature import PublishingFeature
from crowdd.features.publishing.publication_pages import PublishingPages
from crowdd.features.tasks.feature import TasksFeature
from crowdd.http.routing import View
from crowdd.http.web import FeatureWeb, Web


@attrs.frozen
class PublishingWeb(FeatureWeb):
    """Publishing in the browser and over REST."""

    web: Web
    base: Base
    projects: ProjectsFeature
    tasks: TasksFeature
    gallery: GalleryFeature
    publishing: PublishingFeature
    project_pages: ProjectsWeb

    @staticmethod
    def template_functions() -> Mapping[str, Callable[..., object]]:
        """The steps of a draft, which all pages of its owner show."""
        return {"draft_steps": draft_steps, "next_step": next_step}

    def views(self) -> Iterator[View]:
        ours, gallery, forms = self.projects, self.gallery, self.web.forms
        yield NewProjectPages(self.base.records, gallery.gallery, forms, gallery.drafts.own_example)
        yield PublishingPages(
            ours.projects,
            self.publishing.publishing_checks,
            self.tasks.sample_tasks,
            forms,
            self.project_pages.project_views,
        )
