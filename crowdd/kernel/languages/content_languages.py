"""Languages that the texts of a project may be in, each by its own name; the pages themselves are in fewer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from crowdd.kernel.languages.cldr import DIRECTIONS, NATIVE_NAMES

CONTENT_LANGUAGES: Final[Mapping[str, str]] = NATIVE_NAMES
_TAG = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}")


def is_tag(value: object) -> bool:
    """Whether it names a language as HTML does (BCP 47): en, pt-BR, zh-Hant."""
    return isinstance(value, str) and _TAG.fullmatch(value) is not None


def language_of(info: object) -> str:
    """The language that a project's ``info`` names; "" when it names none."""
    tag = info.get("language") if isinstance(info, dict) else None
    return str(tag) if is_tag(tag) else ""


def direction_of(tag: str) -> str:
    """``rtl`` or ``ltr``, by the language and the script that a tag names; ``ltr`` for an unknown language."""
    language, _, rest = tag.partition("-")
    with_script = f"{language}-{rest.partition('-')[0].title()}"
    return DIRECTIONS.get(with_script) or DIRECTIONS.get(language, "ltr")
