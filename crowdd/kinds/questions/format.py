"""The format of lists of questions: its keys, its names and its limits."""

from __future__ import annotations

import re
from typing import Final

DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
"""The JSON Schema that schemas of lists and answers are written in."""
QUESTIONS: Final = "questions"
VERSION: Final = 1
MAX_BYTES: Final = 256_000
MAX_STEPS: Final = 50
MAX_QUESTIONS: Final = 200
MAX_MEDIA: Final = 20  # of a step
MAX_CONDITIONS: Final = 10
MAX_COMPARED: Final = 500  # values of a condition
VERSION_KEY: Final = "questions_version"
UNSEEN_KEY: Final = "unseen"
ORIGINAL_KEYS: Final = ("original_width", "original_height")
RESERVED: Final = (VERSION_KEY, UNSEEN_KEY, *ORIGINAL_KEYS)
"""Keys of answers that are no questions.

Which list was shown, the media that the volunteer answered without, and the size of the original in pixels where the
picture of the task is a reduced copy of it.
"""
NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")
