"""Pictures that a text names but that are not shown. The editor and the message after saving report them."""

from __future__ import annotations

from typing import TypedDict

import attrs

from crowdd.domain.core.text.rendered_text import Prose
from crowdd.domain.projects.project_pictures import MAX_NAMED, why_left_out
from crowdd.languages import _


class OmittedPicture(TypedDict):
    """A picture that is not shown. ``why`` is a word of ``why_left_out``."""

    address: str
    why: str


@attrs.frozen
class LeftOut:
    """Finds such pictures in texts of one site."""

    prose: Prose
    base_url: str

    async def of(self, text: str | None) -> list[OmittedPicture]:
        """The first MAX_NAMED of them."""
        addresses = (await self.prose.left_out(text or ""))[:MAX_NAMED]
        return [OmittedPicture(address=address, why=why_left_out(address, self.base_url)) for address in addresses]

    async def after(self, text: str, words: str) -> tuple[str, str]:
        """The message after a text was stored, and its status. ``words`` is the message if all pictures are shown."""
        lost = len(await self.prose.left_out(text))
        if not lost:
            return words, "success"
        if lost == 1:
            return _("Saved. One picture of the text is not shown: open the text again to read why."), "warning"
        many = _("Saved. %(count)s pictures of the text are not shown: open the text again to read why.", count=lost)
        return many, "warning"
