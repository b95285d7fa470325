"""The response of another server."""

from __future__ import annotations

from collections.abc import Mapping

import attrs


@attrs.frozen
class Response:
    """The response of another server. ``whole`` is false if ``body`` was cut. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    whole: bool
