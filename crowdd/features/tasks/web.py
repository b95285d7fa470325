"""The pages and the API of tasks."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from crowdd.core.base import Base
from crowdd.features.answer_files.feature import AnswerFilesFeature
from crowdd.features.projects.feature import ProjectsFeature
from crowdd.features.projects.web import ProjectsWeb
from crowdd.features.tasks.api import Assignment, CorrectingApi, LeasesApi
from crowdd.features.tasks.change_api import ChangesApi
from crowdd.features.tasks.change_pages import AnswerSelectionPages, ChangePages
from crowdd.features.tasks.comment_pages import CommentPages
from crowdd.features.tasks.feature import TasksFeature
from crowdd.features.tasks.file_api import AnswerFilesApi
from crowdd.features.tasks.task_pages import TaskHistoryPages, TaskPages
from crowdd.features.tasks.volunteer_api import BarsApi, VolunteersApi
from crowdd.features.tasks.volunteer_pages import VolunteerPages
from crowdd.http.routing import View
from crowdd.http.web import FeatureWeb, Web


@attrs.frozen
class TasksWeb(FeatureWeb):
    """Tasks in the browser and over REST."""

    web: Web
    base: Base
    projects: ProjectsFeature
    answer_files: AnswerFilesFeature
    tasks: TasksFeature
    project_pages: ProjectsWeb

    def views(self) -> Iterator[View]:
        projects, records = self.projects.projects, self.base.records
        forms, views = self.web.forms, self.project_pages.project_views
        yield Assignment(self.tasks.contributions, self.tasks.leases, self.projects.external)
        yield ChangesApi(self.tasks.changes)
        yield BarsApi(self.tasks.barring)
        yield VolunteersApi(self.tasks.volunteers)
        yield CorrectingApi(self.tasks.contributions)
        yield LeasesApi(self.tasks.leases)
        yield AnswerFilesApi(self.tasks.contributions, self.answer_files.answer_files)
        yield TaskPages(projects, self.tasks.browsing, self.tasks.leases, self.tasks.comments, forms, views)
        yield TaskHistoryPages(projects, self.base.history, views)
        yield AnswerSelectionPages(projects, self.tasks.browsing, self.tasks.changes, self.tasks.barring, forms, views)
        yield ChangePages(projects, self.tasks.changes, forms, views)
        yield VolunteerPages(projects, self.tasks.volunteers, records, self.tasks.barring, forms, views)
        yield CommentPages(projects, self.tasks.comments, forms, views)
