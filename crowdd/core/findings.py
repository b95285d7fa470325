"""A finding of a check: what is the matter, and what to do."""

from __future__ import annotations

import attrs


@attrs.frozen
class Finding:
    """Something that was found: what is the matter, and what to do. ``wrong`` is false for mere advice.

    ``code`` names the kind of it for programs, and stays the same when the sentences change.
    """

    code: str
    what: str
    todo: str
    wrong: bool = True

    def sentence(self) -> str:
        """Both, for people."""
        return f"{'Problem' if self.wrong else 'Advice'}: {self.what} {self.todo}".rstrip()
