"""What became of the rows of an upload."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Refused:
    """A row that was not added: its number, counted from 0, and why. ``error_code`` is the server's, if it refused."""

    row: int
    reason: str
    error_code: str = ""


@dataclass
class UploadReport:
    """Figures of an upload: ``sent`` rows were read. ``added`` are tasks now, the others are ``refused``."""

    added: int = 0
    refused: list[Refused] = field(default_factory=list)

    @property
    def sent(self) -> int:
        """Rows that were read: those that were added and those that were refused."""
        return self.added + len(self.refused)

    def __str__(self) -> str:
        return f"{self.sent:,} rows = {self.added:,} added + {len(self.refused):,} refused"
