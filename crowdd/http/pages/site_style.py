"""The style sheet with the colours that administrators chose."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from crowdd.domain.core.site import Site
from crowdd.http.html.presenter import SITE_STYLE, public_headers
from crowdd.http.request import Incoming
from crowdd.http.responses import BytesResponse, Response
from crowdd.http.routing import Route, get

# The colours of tokens.css, for a theme whose accent nobody chose: --blue, --blue-2 and --link.
_LIGHT: Final = ("#0b3f63", "#062a44", "#0a4f80")
_DARK: Final = ("#cfe5f4", "#fff", "#9dcef2")


class SiteStyle:
    """``/site.css``. Pages name it with the version of the settings, so that it may be kept for a year."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def routes(self) -> Iterator[Route]:
        yield get(SITE_STYLE, self.style, page=False)

    async def style(self, incoming: Incoming) -> Response:
        row = self._site.row
        current = incoming.query.get("v") == str(row.version)
        cache_control = "public, max-age=31536000, immutable" if current else "no-cache"
        body = style_of(row.accent_light, row.accent_dark).encode()
        return BytesResponse(
            body, "text/css; charset=utf-8", headers={**public_headers(), "Cache-Control": cache_control}
        )


def style_of(light: str | None, dark: str | None) -> str:
    """The custom properties of an accent in both themes; None: that of tokens.css."""
    of_light = (light, f"color-mix(in oklab, {light} 75%, #000)", light) if light else _LIGHT
    of_dark = (dark, f"color-mix(in oklab, {dark} 60%, #fff)", dark) if dark else _DARK
    names = ("--blue", "--blue-2", "--link")
    declarations = (f"{name}: light-dark({a}, {b})" for name, a, b in zip(names, of_light, of_dark, strict=True))
    return f":root {{ {'; '.join(declarations)} }}\n"
