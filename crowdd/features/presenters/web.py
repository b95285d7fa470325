"""The pages and the API of presenters."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from crowdd.core.base import Base
from crowdd.features.accounts.feature import AccountsFeature
from crowdd.features.presenters.app_pages import AppPages
from crowdd.features.presenters.editor_pages import EditorPages
from crowdd.features.presenters.feature import PresentersFeature
from crowdd.features.presenters.frames import PresenterContexts, PresenterFrames
from crowdd.features.presenters.overview_pages import OverviewPages
from crowdd.features.presenters.task_pages import PresentingPages
from crowdd.features.presenters.thanks_pages import ThanksPages
from crowdd.features.projects.feature import ProjectsFeature
from crowdd.features.projects.web import ProjectsWeb
from crowdd.features.questions.feature import QuestionsFeature
from crowdd.features.questions.web import QuestionsWeb
from crowdd.features.results.feature import ResultsFeature
from crowdd.features.tasks.feature import TasksFeature
from crowdd.http.auth.confirmation import Confirm
from crowdd.http.routing import View
from crowdd.http.web import FeatureWeb, Web


@attrs.frozen
class PresentersWeb(FeatureWeb):
    """Presenters in the browser and over REST."""

    web: Web
    base: Base
    accounts: AccountsFeature
    projects: ProjectsFeature
    questions: QuestionsFeature
    results: ResultsFeature
    tasks: TasksFeature
    presenters: PresentersFeature
    project_pages: ProjectsWeb
    question_pages: QuestionsWeb

    @property
    def frames(self) -> PresenterFrames:
        """What makes the documents in which presenters run."""
        projects = self.projects
        return PresenterFrames(
            projects.projects, projects.file_access, self.questions.guides, self.web.templates, self.base.base_url
        )

    def views(self) -> Iterator[View]:
        projects, forms, views = self.projects.projects, self.web.forms, self.project_pages.project_views
        contributions, frames = self.tasks.contributions, self.frames
        contexts = PresenterContexts(
            self.base.records, contributions, self.projects.file_access, self.accounts.accounts
        )
        yield OverviewPages(projects, self.presenters.project_overviews, views, self.web.cookies)
        yield PresentingPages(
            projects, contributions, self.results.finished_tasks, contexts, frames, Confirm(self.web.csrf), views
        )
        yield AppPages(self.web.templates, self.base.site, frames)
        yield ThanksPages(projects, self.presenters.thanks, views)
        yield EditorPages(projects, self.question_pages.previews, self.question_pages.editor, frames, forms, views)
