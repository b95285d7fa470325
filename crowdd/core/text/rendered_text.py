"""Texts in Markdown: laid out in a thread when they are written, stored as HTML, and looked up when they are read."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from markupsafe import Markup
from twisted.internet.defer import DeferredLock

from crowdd.core import statements as core_statements
from crowdd.core.text import markdown_limits
from crowdd.database.access import Transactions
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.errors import CostlyTextError, InvalidValueError
from crowdd.kernel.lazy import lazy
from crowdd.kinds.kind import Kind

if TYPE_CHECKING:
    from crowdd.core.text import markdown
else:
    markdown = lazy("crowdd.core.text.markdown")

MAX_REMEMBERED: Final = 64
Laid = Mapping[tuple[str, int], "markdown.Rendered"]
"""Texts as HTML, by the text and the level of its headings."""


class Prose:
    """Lays texts out. ``MAX_REMEMBERED`` of those that were read last are kept in memory, 200 kB each at most."""

    def __init__(self, db: Transactions, worker_thread: WorkerThread) -> None:
        self._db, self._worker_thread = db, worker_thread
        self._remembered: OrderedDict[str, markdown.Rendered] = OrderedDict()
        self._remaking = DeferredLock()

    async def admit(self, kind: Kind, values: Mapping[str, object]) -> None:
        """Lays out and stores the texts among new values of a row. Raises CostlyTextError."""
        for field in kind.fields:
            text = values.get(field.name)
            if not field.heading or not isinstance(text, str) or not text:
                continue
            await self.admit_text(field.name, text, field.heading)

    async def admit_text(self, name: str, text: str, top: int) -> None:
        """Lays out and stores one text, named ``name``. Raises CostlyTextError."""
        try:
            made = await self._worker_thread.lay_out(markdown.render, text, top)
        except InvalidValueError as error:
            raise CostlyTextError(name, error.args[0]) from None
        await core_statements.store_rendered_text(self._db, key_of(text, top), made.html, made.excerpt)

    async def of(self, texts: Iterable[str], top: int) -> Laid:
        """Each text as HTML whose highest headings have this level."""
        keys = {key_of(text, top): text for text in texts if text}
        await self._look_up([key for key in keys if key not in self._remembered])
        laid = {}
        for key, text in keys.items():
            if key not in self._remembered:
                await self._remaking.run(self._remake, key, text, top)
            self._remembered.move_to_end(key)
            laid[text, top] = self._remembered[key]
        self._forget()
        return laid

    async def left_out(self, text: str) -> list[str]:
        """Addresses of the pictures that a text names and does not show."""
        if "![" not in text and "<img" not in text.lower():
            return []
        try:
            return await self._worker_thread.lay_out(markdown.list_omitted_pictures, text)
        except InvalidValueError:
            return []  # it cannot be stored, or is shown as it was typed

    async def sweep(self) -> int:
        """Removes what nobody has read for a month, and says how much that was."""
        return await core_statements.delete_rendered_texts(self._db)

    async def _look_up(self, keys: list[str]) -> None:
        rows = await core_statements.find_rendered_texts(self._db, keys) if keys else []
        for row in rows:
            self._remembered[row.key] = markdown.Rendered(Markup(row.html), row.excerpt)  # noqa: S704 - nh3 cleaned it
        if stale := [row.key for row in rows if row.stale]:
            await core_statements.note_text_use(self._db, stale)

    async def _remake(self, key: str, text: str, top: int) -> None:
        """A text from before this renderer, one at a time: others who want it wait, and then find it."""
        await self._look_up([key] if key not in self._remembered else [])
        if key in self._remembered:
            return
        made = await self._worker_thread.lay_out(_rendered, text, top)
        self._remembered[key] = made
        await core_statements.store_rendered_text(self._db, key, made.html, made.excerpt)

    def _forget(self) -> None:
        while len(self._remembered) > MAX_REMEMBERED:
            self._remembered.popitem(last=False)


def require_small(kind: Kind, values: Mapping[str, object]) -> None:
    """Raises CostlyTextError for a text that is too long, or has too many tables or tags: what is seen at once."""
    for field in kind.fields:
        text = values.get(field.name)
        if field.heading and isinstance(text, str):
            try:
                markdown_limits.require_small(text)
            except InvalidValueError as error:
                raise CostlyTextError(field.name, error.args[0]) from None


def key_of(text: str, top: int) -> str:
    """What names the HTML of a text: it changes with the text, the renderer and the level of its headings."""
    return hashlib.sha256(f"{markdown.VERSION} {top} {text}".encode("utf-8", "surrogatepass")).hexdigest()


def _rendered(text: str, top: int) -> markdown.Rendered:
    try:
        return markdown.render(text, top)
    except InvalidValueError:
        return markdown.render_plain(text)
