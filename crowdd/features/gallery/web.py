"""The pages and the API of gallery."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from crowdd.core.base import Base
from crowdd.features.gallery.admin_pages import AdminTemplates
from crowdd.features.gallery.feature import GalleryFeature
from crowdd.features.gallery.pages import GalleryPages, SavingPages
from crowdd.features.presenters.web import PresentersWeb
from crowdd.features.projects.feature import ProjectsFeature
from crowdd.features.projects.web import ProjectsWeb
from crowdd.features.tasks.feature import TasksFeature
from crowdd.http.routing import View
from crowdd.http.web import FeatureWeb, Web


@attrs.frozen
class GalleryWeb(FeatureWeb):
    """Gallery in the browser and over REST."""

    web: Web
    base: Base
    projects: ProjectsFeature
    tasks: TasksFeature
    gallery: GalleryFeature
    presenter_pages: PresentersWeb
    project_pages: ProjectsWeb

    def views(self) -> Iterator[View]:
        projects, views, forms, gallery = (
            self.projects.projects,
            self.project_pages.project_views,
            self.web.forms,
            self.gallery.gallery,
        )
        maker, frames = self.gallery.template_maker, self.presenter_pages.frames
        yield SavingPages(projects, gallery, maker, self.tasks.sample_tasks, forms, views)
        yield GalleryPages(gallery, projects, frames, forms, self.gallery.drafts.make)
        yield AdminTemplates(gallery, maker, self.base.worker_thread, forms)
