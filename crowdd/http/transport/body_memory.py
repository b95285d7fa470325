"""Memory for the bodies of requests that bring parts of files.

Twisted writes a body of more than 100,000 bytes to a temporary file. To create, write and remove one holds the reactor
up while the disk is busy, as it is when files arrive: others would wait for their tasks.
"""

from __future__ import annotations

from typing import Final

import attrs

MAX_BYTES: Final = 32_000_000


@attrs.define
class BodyMemory:
    """``left`` bytes can be had. Bodies for which there is no room go to temporary files."""

    left: int = MAX_BYTES

    def take(self, length: int | None) -> int:
        """The bytes that a body of this length has got: all of them, or 0."""
        if length is None or length > self.left:
            return 0
        self.left -= length
        return length

    def give_back(self, length: int) -> None:
        """The body is not needed any more."""
        self.left += length
