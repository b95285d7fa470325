"""What the answers of a project contain, as data (``info.answers``): fields, their checks, and how they are read."""

from crowdd.kinds.answers.fields import ANSWERS, MAX_FIELDS, TYPES, AnswerField, declared, parts, validate
from crowdd.kinds.answers.from_questions import DERIVED, derived, of_questions
from crowdd.kinds.answers.marks import MarkLimit
from crowdd.kinds.answers.reading import MISSING, class_of, fits, number_of, value_at, with_choices
from crowdd.kinds.answers.suggestions import Suggestion, suggest

__all__ = [
    "ANSWERS",
    "DERIVED",
    "MAX_FIELDS",
    "MISSING",
    "TYPES",
    "AnswerField",
    "MarkLimit",
    "Suggestion",
    "class_of",
    "declared",
    "derived",
    "fits",
    "number_of",
    "of_questions",
    "parts",
    "suggest",
    "validate",
    "value_at",
    "with_choices",
]
