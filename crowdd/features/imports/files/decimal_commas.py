"""Numbers with a decimal comma, as tables in many languages have them: 48,1 and 1.234,5."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from crowdd.features.imports.files.rows import FileRow, refused
from crowdd.kernel import exact_json
from crowdd.kernel.languages import _

_NUMBER: Final = re.compile(r"([+-]?)(0|[1-9]\d{0,2}(?:[. \u00a0\u202f]\d{3})+|[1-9]\d*)(,\d+)?")
_MAX_CHARACTERS: Final = 100


def number_of(text: str) -> object:
    """The number that a text is, with the decimals that are written; None for any other text."""
    match = _NUMBER.fullmatch(text.strip()) if len(text) <= _MAX_CHARACTERS else None
    if match is None:
        return None
    sign, whole, decimals = match.groups("")
    digits = re.sub(r"\D", "", whole) + decimals.replace(",", ".")
    return exact_json.loads(f"{'-' * (sign == '-')}{digits}")


class CommaColumns:
    """Finds the columns of a table that have nothing but numbers, one of them at least with a decimal comma."""

    def __init__(self) -> None:
        self._possible: dict[str, bool] | None = None

    def look_at(self, values: Mapping[str, object]) -> None:
        """Looks at a row. A column costs nothing once it has another text."""
        if self._possible is None:
            self._possible = dict.fromkeys(values, False)
        for name in [*self._possible]:
            value = values.get(name)
            if value is None or value == "":
                continue
            if not isinstance(value, str) or number_of(value) is None:
                del self._possible[name]
            elif "," in value:
                self._possible[name] = True

    def names(self) -> list[str]:
        """These columns."""
        return [name for name, has_comma in (self._possible or {}).items() if has_comma]


def with_numbers(row: FileRow, columns: list[str]) -> FileRow:
    """The row with numbers in these columns; refused where one has something else. Empty cells stay as they are."""
    if row.values is None:
        return row
    numbers: dict[str, object] = {}
    for name in columns:
        value = row.values.get(name)
        if isinstance(value, str) and value.strip():
            numbers[name] = number = number_of(value)
            if number is None:
                words = _("%(name)s has no number with a decimal comma: %(value)s", name=name[:100], value=value[:100])
                return refused(row.number, words, value)
    return row._replace(values={**row.values, **numbers}) if numbers else row
