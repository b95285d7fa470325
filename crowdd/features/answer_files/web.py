"""The address of files of answers."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from crowdd.features.answer_files.feature import AnswerFilesFeature
from crowdd.features.answer_files.pages import AnswerFilePages
from crowdd.features.media.feature import MediaFeature
from crowdd.http.routing import View
from crowdd.http.web import FeatureWeb


@attrs.frozen
class AnswerFilesWeb(FeatureWeb):
    """Files of answers over HTTP."""

    answer_files: AnswerFilesFeature
    media: MediaFeature

    def views(self) -> Iterator[View]:
        yield AnswerFilePages(self.answer_files.answer_files, self.media.media_store)
