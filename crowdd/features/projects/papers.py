"""The papers that use the results of a project, as its owners name them (``info.papers``)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import attrs

from crowdd.kernel.errors import FormError, InvalidValueError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values

KEY: Final = "papers"
MAX_PAPERS: Final = 20
MAX_TITLE: Final = 300
_DOI: Final = re.compile(r"10\.[0-9]{4,9}/[!-~]{1,200}")
_BEFORE: Final = re.compile(r"(?:https?://(?:dx\.)?doi\.org/|doi:\s*)?", re.IGNORECASE)


@attrs.frozen
class Paper:
    """A publication: its DOI, such as 10.1038/s41586-020-2649-2, and what it is called, which may be empty."""

    doi: str
    title: str = ""


def read(info: Mapping[str, Any]) -> tuple[Paper, ...]:
    """What ``info`` of a project says. Raises InvalidValueError."""
    value = info.get(KEY)
    if value is None:
        return ()
    if not isinstance(value, list) or len(value) > MAX_PAPERS:
        raise InvalidValueError(_("`info.papers` must be an array of at most %(maximum)s papers.", maximum=MAX_PAPERS))
    return tuple(map(_paper, value))


def _paper(value: object) -> Paper:
    if not isinstance(value, dict) or not {"doi"} <= set(value) <= {"doi", "title"}:
        raise InvalidValueError(_("Each of `info.papers` must be an object with `doi` and `title`."))
    doi, title = value["doi"], value.get("title", "")
    if not isinstance(doi, str) or not _DOI.fullmatch(doi):
        raise InvalidValueError(_("`doi` must be a DOI such as 10.1234/abc (got %(text)s).", text=str(doi)[:50]))
    if not isinstance(title, str) or len(title) > MAX_TITLE or not title.isprintable():
        raise InvalidValueError(_("`title` must be a text of at most %(maximum)s characters.", maximum=MAX_TITLE))
    return Paper(doi, title)


def from_lines(text: str) -> list[Values]:
    """Papers as owners type them, one a line: a DOI or its address, then the title. Raises FormError."""
    papers = []
    for line in filter(None, map(str.strip, text.splitlines())):
        doi, *rest = _BEFORE.sub("", line, count=1).split(maxsplit=1)
        if not _DOI.fullmatch(doi):
            words = _("Begin each line with a DOI such as 10.1234/abc. This line does not: %(line)s", line=line[:60])
            raise FormError({KEY: [words]})
        papers.append({"doi": doi, "title": " ".join("".join(rest).split())})
    try:
        read({KEY: papers})
    except InvalidValueError as error:
        raise FormError({KEY: [str(error.args[0])]}) from None
    return papers


def as_lines(info: Mapping[str, Any]) -> str:
    """The same as a text to change."""
    return "\n".join(f"{paper.doi} {paper.title}".rstrip() for paper in known(info))


def known(info: Mapping[str, Any]) -> tuple[Paper, ...]:
    """The papers of a stored ``info``, none where it says something impossible (written before there was a check)."""
    try:
        return read(info)
    except InvalidValueError:
        return ()
