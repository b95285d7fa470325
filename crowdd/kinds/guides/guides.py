"""The guides that a project may have."""

from __future__ import annotations

from typing import Final

from crowdd.kinds.guides import field_guide, tutorial
from crowdd.kinds.guides.guide import Guide

TUTORIAL: Final = Guide("guided_tutorial", tutorial.MAX_BYTES, tutorial.check, tutorial.schema)
FIELD_GUIDE: Final = Guide("field_guide", field_guide.MAX_BYTES, field_guide.check, field_guide.schema)
GUIDES: Final = (TUTORIAL, FIELD_GUIDE)
