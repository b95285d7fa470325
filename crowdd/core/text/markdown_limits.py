"""What a text in Markdown may cost: limits that are counted before, and processor time that is counted on the way.

Nothing of the parser takes long by itself once the counts are small: each of its rules is one walk over a line or a
paragraph. Texts that make it try again and again ("[" 16,000 times) are stopped between two rules.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, Final

from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import _

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MAX_CHARACTERS: Final = 50_000
MAX_CELLS: Final = 2_000
MAX_TAGS: Final = 2_000
MAX_HTML_BYTES: Final = 200_000
MAX_SECONDS: Final = 0.2
_STEPS_BETWEEN_LOOKS: Final = 8
_BELOW_A_HEADER: Final = ">|:*+.)0123456789-" + "".join(filter(str.isspace, map(chr, range(0x3001))))
"""The characters of a line below the header of a table, which has at least one hyphen."""


class TimeBudget:
    """Processor time of this thread that a text may still take; None: as much as it wants."""

    def __init__(self, seconds: float | None) -> None:
        self.limited = seconds is not None
        self._end = float("inf") if seconds is None else time.thread_time() + seconds
        self._steps = 0

    def step(self) -> None:
        """To be called before each rule. Raises InvalidValueError when the time is over."""
        self._steps += 1
        if self._steps % _STEPS_BETWEEN_LOOKS == 0 and time.thread_time() > self._end:
            maximum = round(MAX_SECONDS * 1000)
            raise InvalidValueError(
                _("The text takes more than %(maximum)s ms to render. Shorten or simplify it.", maximum=maximum)
            )


def watch(markdown: MarkdownIt) -> None:
    """Makes every rule of a parser ask the budget (``env["budget"]``) first."""
    for ruler in (markdown.core.ruler, markdown.block.ruler, markdown.inline.ruler, markdown.inline.ruler2):
        for rule in ruler.__rules__:
            rule.fn = _watched(rule.fn)
        ruler.__cache__ = None


def _watched(rule: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(rule)
    def watched(state: Any, *arguments: Any) -> Any:
        state.env["budget"].step()
        return rule(state, *arguments)

    return watched


def require_small(text: str) -> None:
    """Raises InvalidValueError for a text that is too long, or has too many cells or tags."""
    length, tags, cells = len(text), text.count("<"), cells_of(text)
    if length > MAX_CHARACTERS:
        values = {"maximum": f"{MAX_CHARACTERS:,}", "count": f"{length:,}"}
        raise InvalidValueError(_("The text may have at most %(maximum)s characters (got %(count)s).", **values))
    if tags > MAX_TAGS:
        values = {"maximum": f"{MAX_TAGS:,}", "count": f"{tags:,}"}
        raise InvalidValueError(_("The text may have at most %(maximum)s HTML tags (got %(count)s).", **values))
    if cells > MAX_CELLS:
        values = {"maximum": f"{MAX_CELLS:,}", "count": f"{cells:,}"}
        raise InvalidValueError(_("The text may have at most %(maximum)s table cells (got %(count)s).", **values))


def cells_of(text: str) -> int:
    """How many cells the tables of a text have at most: each row of a table is filled up to its width."""
    cell_count = width = 0
    before = ""
    for line in text.splitlines():
        if not line.strip(" \t>"):
            width = 0
        elif "|" in before and "-" in line and not line.strip(_BELOW_A_HEADER):
            width = line.count("|") + 1
            cell_count += width
        cell_count += width
        before = line
    return cell_count


def require_few_tokens(tokens: Sequence[Token]) -> None:
    """Raises InvalidValueError before HTML is made that would be far too long: one long address may be used often."""
    _require_bytes(sum(_letters(token) for token in tokens))


def _letters(token: Token) -> int:
    own = len(token.content) if token.type != "inline" else 0
    return own + sum(len(str(value)) for value in token.attrs.values()) + sum(map(_letters, token.children or ()))


def require_short_html(html: str) -> None:
    """Raises InvalidValueError for HTML that is too long to be kept and sent."""
    _require_bytes(len(html.encode()))


def _require_bytes(size: int) -> None:
    if size > MAX_HTML_BYTES:
        values = {"maximum": MAX_HTML_BYTES // 1000, "count": f"{-(-size // 1000):,}"}
        raise InvalidValueError(_("The text may become at most %(maximum)s kB of HTML (got %(count)s kB).", **values))
