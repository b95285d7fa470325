"""The pages and the API of translations."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from crowdd.features.projects.feature import ProjectsFeature
from crowdd.features.projects.web import ProjectsWeb
from crowdd.features.translations.api import TranslationsApi
from crowdd.features.translations.feature import TranslationsFeature
from crowdd.features.translations.pages import LanguagePages
from crowdd.http.routing import View
from crowdd.http.web import FeatureWeb, Web


@attrs.frozen
class TranslationsWeb(FeatureWeb):
    """Translations in the browser and over REST."""

    web: Web
    projects: ProjectsFeature
    translations: TranslationsFeature
    project_pages: ProjectsWeb

    def views(self) -> Iterator[View]:
        translations = self.translations.translations
        yield TranslationsApi(translations)
        yield LanguagePages(self.projects.projects, translations, self.web.forms, self.project_pages.project_views)
