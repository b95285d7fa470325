"""Pictures that a text names and does not show: said where it is edited, and after it was stored."""

from __future__ import annotations

import attrs

from crowdd.domain.projects.project_pictures import MAX_NAMED, why_left_out
from crowdd.domain.server.services import Services
from crowdd.languages import _


@attrs.frozen
class LeftOut:
    """Looks through texts of one site."""

    services: Services

    async def of(self, text: str | None) -> list[dict[str, str]]:
        """``address`` and ``why`` of such pictures, as many as are named."""
        base = self.services.settings.base_url
        found = (await self.services.prose.left_out(text or ""))[:MAX_NAMED]
        return [{"address": address, "why": why_left_out(address, base)} for address in found]

    async def after(self, text: str, words: str) -> tuple[str, str]:
        """What is said after a text was stored, and its status."""
        lost = len(await self.services.prose.left_out(text))
        if not lost:
            return words, "success"
        if lost == 1:
            return _("Saved. One picture of the text is not shown: open the text again to read why."), "warning"
        many = _("Saved. %(count)s pictures of the text are not shown: open the text again to read why.", count=lost)
        return many, "warning"
