"""The pages of news."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from crowdd.features.accounts.feature import AccountsFeature
from crowdd.features.news.feature import NewsFeature
from crowdd.features.news.letter_pages import LetterPages
from crowdd.features.news.pages import NewsPages, UnsubscribePages
from crowdd.features.projects.feature import ProjectsFeature
from crowdd.features.projects.web import ProjectsWeb
from crowdd.http.routing import View
from crowdd.http.web import FeatureWeb, Web


@attrs.frozen
class NewsWeb(FeatureWeb):
    """News in the browser."""

    web: Web
    accounts: AccountsFeature
    projects: ProjectsFeature
    news: NewsFeature
    project_pages: ProjectsWeb

    def views(self) -> Iterator[View]:
        yield NewsPages(self.accounts.accounts, self.news.news, self.web.forms)
        yield UnsubscribePages(self.news.digest)
        views = self.project_pages.project_views
        yield LetterPages(self.projects.projects, self.news.letters, self.web.forms, views)
