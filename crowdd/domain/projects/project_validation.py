"""What is wrong with what an owner says of a project on its forms: sentences for each field, none when all is well."""

from __future__ import annotations

import re
from typing import Final

from crowdd.domain.accounts.account_validation import Mistakes, found
from crowdd.domain.projects.projects import RESERVED_SHORT_NAMES, slug
from crowdd.errors import ConflictError, InvalidValueError
from crowdd.kinds.project import PROJECT
from crowdd.languages import _

MAXIMUM: Final = 255
_MARKS = re.compile(r"[#*_`>~]+|!?\[([^\]]*)\]\([^)]*\)|<[^>]*>")


def mistakes(name: str, short_name: str, description: str) -> Mistakes:
    """All mistakes of the three fields that every project has."""
    return found({"name": _name(name), "short_name": _short_name(short_name), "description": _description(description)})


def _name(text: str) -> list[str]:
    return _missing(text, _("Enter a name.")) or _too_long(text)


def _short_name(text: str) -> list[str]:
    if not text:
        return [_("Enter an address.")]
    if text.lower() in RESERVED_SHORT_NAMES:
        return [_("This address is a page of the site. Choose another one.")]
    try:
        PROJECT.field("short_name").parse(text)
    except InvalidValueError:
        return [
            _(
                "Do not use spaces or any of / ? # %% & \\ < > \" '. Instead of “%(text)s”, try “%(better)s”.",
                text=text[:60],
                better=slug(text),
            )
        ]
    return _too_long(text)


def _description(text: str) -> list[str]:
    return _missing(text, _("Describe the project in one sentence. It helps volunteers choose.")) or _too_long(text)


def _missing(text: str, words: str) -> list[str]:
    return [] if text else [words]


def _too_long(text: str) -> list[str]:
    return [_("Use at most %(maximum)s characters.", maximum=MAXIMUM)] if len(text) > MAXIMUM else []


def taken(error: ConflictError) -> Mistakes:
    """What a refused project is told: which of the two names that must be unique is not."""
    if error.constraint == "project_short_name":
        return {"short_name": [_("This address is taken. Add a place or a year.")]}
    if error.constraint == "project_name":
        return {"name": [_("There is already a project with this name. Add a place or a year.")]}
    raise error


def first_sentence(markdown: str) -> str:
    """The beginning of a long description as the one sentence that lists show, without its marks."""
    plain = " ".join(_MARKS.sub(lambda mark: mark[1] or "", markdown).split())
    return plain if len(plain) <= MAXIMUM else f"{plain[: MAXIMUM - 3]}..."
