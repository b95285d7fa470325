"""The pages and the API of trust."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from crowdd.core.base import Base
from crowdd.features.presenters.web import PresentersWeb
from crowdd.features.projects.feature import ProjectsFeature
from crowdd.features.projects.web import ProjectsWeb
from crowdd.features.questions.web import QuestionsWeb
from crowdd.features.trust.adaptive_pages import AdaptivePages
from crowdd.features.trust.api import DecisionsApi, GoldApi
from crowdd.features.trust.decision_pages import DecisionPages
from crowdd.features.trust.feature import TrustFeature
from crowdd.features.trust.gold_pages import GoldPages
from crowdd.features.trust.review_pages import ReviewPages
from crowdd.features.trust.rule_api import TaskRulesApi
from crowdd.features.trust.rule_pages import RulePages
from crowdd.features.trust.sample_pages import SamplePages
from crowdd.http.routing import View
from crowdd.http.web import FeatureWeb, Web


@attrs.frozen
class TrustWeb(FeatureWeb):
    """Trust in the browser and over REST."""

    web: Web
    base: Base
    projects: ProjectsFeature
    trust: TrustFeature
    presenter_pages: PresentersWeb
    project_pages: ProjectsWeb
    question_pages: QuestionsWeb

    def views(self) -> Iterator[View]:
        projects, forms, views = self.projects.projects, self.web.forms, self.project_pages.project_views
        previews, frames = self.question_pages.previews, self.presenter_pages.frames
        yield DecisionsApi(self.trust.reviews, self.trust.whole_answers)
        yield GoldApi(self.trust.gold)
        yield TaskRulesApi(self.trust.task_rules)
        yield RulePages(projects, self.trust.task_rules, forms, views)
        yield GoldPages(projects, self.trust.gold, forms, views)
        yield ReviewPages(projects, self.trust.reviews, previews, frames, forms.csrf, views)
        yield DecisionPages(projects, self.trust.reviews, self.trust.whole_answers)
        yield SamplePages(projects, self.trust.sampling, previews, frames, forms.csrf, views)
        yield AdaptivePages(projects, self.trust.adaptive, self.trust.trust_overview, self.trust.reviews, forms, views)
