"""What makes the site installable, and lets people open what they took along where there is no line."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import orjson

from crowdd.core.site import Site
from crowdd.features.presenters.frames import PresenterFrames
from crowdd.features.projects.views import locked_out
from crowdd.http.html.frames import MANIFEST, WORKER, public_headers, worker_headers
from crowdd.http.html.rendering import Templates
from crowdd.http.request import Incoming
from crowdd.http.responses import BytesResponse, Page, Response, Titled
from crowdd.http.routing import Route, get
from crowdd.kernel.languages import _

_HOME = "/app/"
_GROUND = "#f8f7f4"  # --ground of tokens.css


class AppPages:
    """The manifest, the service worker, the page where an installed site opens, and what is kept of a project."""

    def __init__(self, templates: Templates, site: Site, frames: PresenterFrames) -> None:
        self._templates, self._site, self._frames = templates, site, frames

    def routes(self) -> Iterator[Route]:
        yield get(_HOME, self.home)
        yield get(WORKER, self.worker, page=False)
        yield get(MANIFEST, self.manifest, page=False)
        yield get("/project/<short_name>/along", locked_out(self.along), page=False)

    async def home(self, incoming: Incoming) -> Response:
        """What this browser has with it; its script reads that from the browser, and nothing here is of an account."""
        return Page("app/along.html", Titled(title=_("Taken along")))

    async def worker(self, incoming: Incoming) -> Response:
        """The script of the service worker: for this folder, or for the pages of one project (``project``)."""
        name = incoming.query.get("project", "")
        headers = worker_headers(f"/project/{quote(name, safe='')}/" if name else "")
        return BytesResponse(self._templates.worker().encode(), "text/javascript; charset=utf-8", headers=headers)

    async def manifest(self, incoming: Incoming) -> Response:
        """The web app manifest: the name of the site, and its own mark or logo."""
        shown = self._site.appearance()
        marks = [
            *([{"src": shown.logo, "sizes": "any"}] if shown.logo else []),
            {"src": self._templates.static("img/mark.svg"), "sizes": "any", "type": "image/svg+xml"},
            *(
                {"src": self._templates.static(f"img/mark-{size}.png"), "sizes": f"{size}x{size}", "type": "image/png"}
                for size in (192, 512)
            ),
        ]
        manifest = {
            "id": _HOME,
            "name": shown.name,
            "short_name": shown.name,
            "start_url": _HOME,
            "scope": "/",
            "display": "standalone",
            "theme_color": _GROUND,
            "background_color": _GROUND,
            "icons": marks,
        }
        headers = {**public_headers(), "Cache-Control": "public, max-age=3600"}
        return BytesResponse(orjson.dumps(manifest), "application/manifest+json", headers=headers)

    async def along(self, incoming: Incoming, short_name: str) -> Response:
        """The document with a project's questions, as text (``PresenterFrames.whole``)."""
        return await self._frames.whole(incoming, short_name)
