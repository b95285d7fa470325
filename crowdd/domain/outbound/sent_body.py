"""The body of a request that is read while it is sent."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import attrs


@attrs.frozen(eq=False)
class SentBody:
    """``length`` bytes, which ``pieces`` gives as fast as the connection takes them. It is sent once."""

    length: int
    pieces: AsyncGenerator[bytes, None] = attrs.field(repr=False)
