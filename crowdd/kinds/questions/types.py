"""The types of questions and media that a list of questions may use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from crowdd.kinds.questions.form_types import FORM_TYPES
from crowdd.kinds.questions.mark_types import MARK_TYPES
from crowdd.kinds.questions.media_types import FORM_MEDIA, MARK_MEDIA
from crowdd.kinds.questions.question_type import MediaType, QuestionType

TYPES: Final[Mapping[str, QuestionType]] = {each.name: each for each in (*FORM_TYPES, *MARK_TYPES)}
MEDIA: Final[Mapping[str, MediaType]] = {each.name: each for each in (*FORM_MEDIA, *MARK_MEDIA)}
