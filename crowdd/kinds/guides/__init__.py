"""What explains a project to volunteers, as data: the guided tutorial and the field guide, each a key of ``info``."""

from crowdd.kinds.guides.guide import Guide
from crowdd.kinds.guides.guides import FIELD_GUIDE, GUIDES, TUTORIAL
from crowdd.kinds.guides.references import broken

__all__ = ["FIELD_GUIDE", "GUIDES", "TUTORIAL", "Guide", "broken"]
