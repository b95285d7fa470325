"""What libraries write files to whose parts leave as they are made."""

from __future__ import annotations


class Output:
    """A file that a library writes to, and what it wrote since it was last asked."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size, self.closed = 0, False

    def write(self, part: bytes) -> int:
        content = bytes(part)
        self._parts.append(content)
        self._size += len(content)
        return len(content)

    def tell(self) -> int:
        return self._size

    def flush(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing: what was written is still to be taken."""

    def writable(self) -> bool:
        return True

    def readable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False

    def taken(self) -> bytes:
        """What was written since."""
        parts, self._parts = self._parts, []
        return b"".join(parts)
