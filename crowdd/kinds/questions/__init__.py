"""Questions as data (``info.questions`` of a project): their types, checks, and the JSON Schemas of list and answer."""

from crowdd.kinds.questions.columns import columns_of
from crowdd.kinds.questions.format import MAX_BYTES, QUESTIONS
from crowdd.kinds.questions.options import Problem
from crowdd.kinds.questions.schemas import answer_schema, document_schema
from crowdd.kinds.questions.types import MEDIA, TYPES
from crowdd.kinds.questions.validation import asks_opinions, is_usable, validate

__all__ = [
    "MAX_BYTES",
    "MEDIA",
    "QUESTIONS",
    "TYPES",
    "Problem",
    "answer_schema",
    "asks_opinions",
    "columns_of",
    "document_schema",
    "is_usable",
    "validate",
]
