"""Types of the values that every layer passes on."""

from __future__ import annotations

from typing import Any, TypeAlias

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"
JsonObject: TypeAlias = dict[str, Json]
Values: TypeAlias = dict[str, Any]
"""What a body, a row or a view says, by the names of the attributes of a kind."""
