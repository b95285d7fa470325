"""Presenters: their editor, their frames, the pages that present tasks, and the overview of a project."""

from __future__ import annotations

import attrs

from crowdd.core.base import Base
from crowdd.core.feature import Feature
from crowdd.features.presenters.overview import ProjectOverviews
from crowdd.features.presenters.thanks import Thanks
from crowdd.features.projects.feature import ProjectsFeature
from crowdd.features.questions.feature import QuestionsFeature
from crowdd.features.results.feature import ResultsFeature
from crowdd.features.tasks.feature import TasksFeature


@attrs.frozen
class PresentersFeature(Feature):
    """What volunteers see of a task."""

    project_overviews: ProjectOverviews
    thanks: Thanks

    @classmethod
    def build(
        cls,
        base: Base,
        projects: ProjectsFeature,
        questions: QuestionsFeature,
        results: ResultsFeature,
        tasks: TasksFeature,
    ) -> PresentersFeature:
        overviews = ProjectOverviews(
            base.db, results.finished_tasks, projects.settings_overview, questions.answer_fields
        )
        return cls(overviews, Thanks(base.db, tasks.contributions, results.finished_tasks, projects.project_lists))
