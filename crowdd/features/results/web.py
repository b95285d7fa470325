"""The API of results. Their public page is in ``features/presenters/task_pages.py``: a presenter may draw it."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from crowdd.features.results.api import ResultsApi
from crowdd.features.results.feature import ResultsFeature
from crowdd.http.routing import View
from crowdd.http.web import FeatureWeb, Web


@attrs.frozen
class ResultsWeb(FeatureWeb):
    """Results in the browser and over REST."""

    web: Web
    results: ResultsFeature

    def views(self) -> Iterator[View]:
        yield ResultsApi(self.results.results)
