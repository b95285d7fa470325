"""Questions as data: the builder, answer fields, guides and their versions."""

from __future__ import annotations

import attrs

from crowdd.core.base import Base
from crowdd.core.feature import Feature
from crowdd.features.projects.feature import ProjectsFeature
from crowdd.features.questions.answer_fields import AnswerFields
from crowdd.features.questions.guides import GuideReader, GuideVersions, QuestionsPart
from crowdd.features.questions.questions import QuestionReviews


@attrs.frozen
class QuestionsFeature(Feature):
    """What a project asks, and what volunteers read about it."""

    question_reviews: QuestionReviews
    answer_fields: AnswerFields
    guides: GuideReader
    guide_versions: GuideVersions

    @classmethod
    def build(cls, base: Base, projects: ProjectsFeature) -> QuestionsFeature:
        projects.parts.append(QuestionsPart())
        return cls(
            question_reviews=QuestionReviews(base.db),
            answer_fields=AnswerFields(base.db, projects.projects),
            guides=GuideReader(base.prose),
            guide_versions=GuideVersions(base.db),
        )
