"""What owners say of their project as a data set (``info.dataset``): its licence and its authors."""

from __future__ import annotations

import re
from typing import Final

import attrs

from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values

KEY: Final = "dataset"
MAX_AUTHORS, MAX_NAME = 50, 200
_ORCID: Final = re.compile(r"\d{4}-\d{4}-\d{4}-\d{3}[\dX]")


@attrs.frozen
class Licence:
    """A licence of data: its SPDX identifier, its name and its address."""

    id: str
    name: str
    url: str


LICENCES: Final = {
    licence.id: licence
    for licence in (
        Licence("CC0-1.0", "Creative Commons Zero 1.0", "https://creativecommons.org/publicdomain/zero/1.0/"),
        Licence("CC-BY-4.0", "Creative Commons Attribution 4.0", "https://creativecommons.org/licenses/by/4.0/"),
        Licence(
            "CC-BY-SA-4.0",
            "Creative Commons Attribution-ShareAlike 4.0",
            "https://creativecommons.org/licenses/by-sa/4.0/",
        ),
        Licence(
            "CC-BY-NC-4.0",
            "Creative Commons Attribution-NonCommercial 4.0",
            "https://creativecommons.org/licenses/by-nc/4.0/",
        ),
        Licence("ODbL-1.0", "Open Database License 1.0", "https://opendatacommons.org/licenses/odbl/1-0/"),
    )
}


@attrs.frozen
class Author:
    """Somebody to be named as author. ``orcid`` is an identifier like 0000-0002-1825-0097, or empty."""

    name: str
    orcid: str = ""


@attrs.frozen
class Dataset:
    """``license`` is None while the owners have not chosen one: then nobody else may use the data."""

    license: Licence | None = None
    authors: tuple[Author, ...] = ()


def read(info: Values) -> Dataset:
    """What ``info`` of a project says. Raises InvalidValueError."""
    value = info.get(KEY)
    if value is None:
        return Dataset()
    if not isinstance(value, dict) or not set(value) <= {"license", "authors"}:
        raise InvalidValueError(_("`info.dataset` must be an object with `license` and `authors`."))
    return Dataset(_license(value.get("license")), _authors(value.get("authors") or []))


def _license(value: object) -> Licence | None:
    if value is None:
        return None
    if not isinstance(value, str) or value not in LICENCES:
        choices = ", ".join(LICENCES)
        raise InvalidValueError(_("%(name)s must be one of %(choices)s.", name="license", choices=choices))
    return LICENCES[value]


def _authors(value: object) -> tuple[Author, ...]:
    if not isinstance(value, list) or len(value) > MAX_AUTHORS:
        raise InvalidValueError(_("`authors` must be a list of at most %(max)s people.", max=MAX_AUTHORS))
    return tuple(_author(each) for each in value)


def _author(value: object) -> Author:
    if not isinstance(value, dict) or not set(value) <= {"name", "orcid"}:
        raise InvalidValueError(_("Each author must be an object with `name` and `orcid`."))
    name, orcid = value.get("name"), value.get("orcid") or ""
    if not isinstance(name, str) or not 0 < len(name.strip()) <= MAX_NAME:
        raise InvalidValueError(_("The name of an author must have 1 to %(max)s characters.", max=MAX_NAME))
    if not isinstance(orcid, str) or (orcid and not is_orcid(orcid)):
        raise InvalidValueError(_("%(orcid)s is not a valid ORCID.", orcid=str(orcid)[:40]))
    return Author(name.strip(), orcid)


def is_orcid(text: str) -> bool:
    """Whether a text is an ORCID: its last digit is a checksum (ISO 7064 11,2)."""
    if not _ORCID.fullmatch(text):
        return False
    digits = text.replace("-", "")
    total = 0
    for digit in digits[:-1]:
        total = (total + int(digit)) * 2
    check = (12 - total % 11) % 11
    return digits[-1] == ("X" if check == 10 else str(check))


def written(dataset: Dataset) -> Values:
    """The same as ``info.dataset`` has it."""
    return {
        "license": None if dataset.license is None else dataset.license.id,
        "authors": [{"name": each.name, **({"orcid": each.orcid} if each.orcid else {})} for each in dataset.authors],
    }


def from_lines(license_id: str, lines: str) -> Dataset:
    """What a form says: the id of a licence or "", and one author per line, with an ORCID at its end or without.

    Raises InvalidValueError.
    """
    authors = [_of_line(each) for each in lines.splitlines() if each.strip()]
    return read({KEY: {"license": license_id or None, "authors": authors}})


def _of_line(line: str) -> Values:
    name, _space, last = line.strip().rpartition(" ")
    orcid = last.strip("()<>").removeprefix("https://orcid.org/")
    if name and re.fullmatch(r"[\d-]+X?", orcid):
        return {"name": name.strip(" ,"), "orcid": orcid}
    return {"name": line.strip()}


def lines(dataset: Dataset) -> str:
    """The authors as the form shows them."""
    return "\n".join(f"{each.name} {each.orcid}".strip() for each in dataset.authors)
