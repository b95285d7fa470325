"""Types of the values that every layer passes on."""

from __future__ import annotations

from typing import Any, TypeAlias

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"
JsonObject: TypeAlias = dict[str, Json]
Values: TypeAlias = dict[str, Any]
"""What a body, a row or a view says, by the names of the attributes of a kind."""


def parse_number(text: str, max_digits: int = 18) -> int | None:
    """The whole number that a text of at most so many digits is; None for any other text."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= max_digits else None


def id_or_name(text: str) -> int | str:
    """What an address names: an id if it is a number, otherwise a name."""
    number = parse_number(text)
    return text if number is None else number
