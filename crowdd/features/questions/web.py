"""The pages and the API of questions."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from crowdd.core.base import Base
from crowdd.features.projects.feature import ProjectsFeature
from crowdd.features.projects.web import ProjectsWeb
from crowdd.features.questions.answer_field_pages import AnswerFieldPages
from crowdd.features.questions.builder_pages import Builder, QuestionCheckPages
from crowdd.features.questions.feature import QuestionsFeature
from crowdd.features.questions.guide_pages import FieldGuidePages, GuideEditorPages
from crowdd.features.questions.previews import Previews
from crowdd.features.questions.question_pages import QuestionsEditor
from crowdd.http.routing import View
from crowdd.http.web import FeatureWeb, Web


@attrs.frozen
class QuestionsWeb(FeatureWeb):
    """Questions in the browser and over REST."""

    web: Web
    base: Base
    projects: ProjectsFeature
    questions: QuestionsFeature
    project_pages: ProjectsWeb

    @property
    def builder(self) -> Builder:
        """What tells pages about types and problems of questions."""
        return Builder(self.questions.question_reviews, self.base.languages)

    @property
    def previews(self) -> Previews:
        """What shows tasks to those who edit a project."""
        return Previews(self.base.records, self.projects.file_access)

    @property
    def editor(self) -> QuestionsEditor:
        """The part of the editor's page that edits questions."""
        projects = self.projects
        return QuestionsEditor(
            projects.projects, self.previews, self.builder, self.web.forms, self.project_pages.project_views
        )

    def views(self) -> Iterator[View]:
        projects, forms, views = self.projects.projects, self.web.forms, self.project_pages.project_views
        yield AnswerFieldPages(projects, self.questions.answer_fields, forms, views)
        yield FieldGuidePages(projects, self.questions.guides, views)
        yield GuideEditorPages(
            projects, self.questions.guide_versions, self.questions.guides, self.previews, forms, views
        )
        yield QuestionCheckPages(projects, self.builder)
