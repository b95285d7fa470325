"""Texts about the site, by its operator or the ones that come with crowdd, and the page of all design parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Final, TypedDict

import attrs

from crowdd import PACKAGE
from crowdd.config.site import SiteSettings
from crowdd.domain.core.site import HEADING, TEXTS, Site
from crowdd.domain.core.text.rendered_text import Laid, Prose
from crowdd.http.html.locales import locale_of
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get
from crowdd.languages import NAMES, SOURCE

OURS: Final = PACKAGE / "http/texts"
ADDRESSES: Final[Mapping[str, str]] = {
    "about": "/about",
    "help": "/help/",
    "terms": "/help/terms-of-use",
    "privacy": "/help/privacy",
    "cookies": "/help/cookies-policy",
    "license": "/help/license",
}


@attrs.frozen
class SiteText:
    """A text in Markdown under its heading."""

    title: str
    content: str

    @classmethod
    def read(cls, path: Path) -> SiteText:
        """The text of a file whose first line is its heading."""
        return cls.parse(path.read_text("utf-8"))

    @classmethod
    def parse(cls, whole: str) -> SiteText:
        """A text whose first line is its heading."""
        heading, _, content = whole.lstrip().partition("\n")
        return cls(heading.lstrip("#").strip(), content.strip())


class TextPublic(Titled):
    content: str


class TextPrivate(TypedDict, total=False):
    """For a text that administrators wrote on the pages: its language, and ``prose``."""

    language: str
    prose: Laid


class AboutPages:
    """``/about`` and ``/help/…``. Texts that administrators wrote come first; files are read when the server starts."""

    def __init__(self, settings: SiteSettings, site: Site, prose: Prose) -> None:
        self._site, self._prose = site, prose
        self._debug = settings.debug
        folders = [Path(settings.texts)] if settings.texts else []
        self._texts = {name: read(name, [*folders, OURS / name]) for name in ADDRESSES}

    def routes(self) -> Iterator[Route]:
        for name, address in ADDRESSES.items():
            yield get(address, partial(self.text, name))
        yield get("/help/api", self.api)
        if self._debug:
            yield get("/about/design", self.design)

    async def text(self, name: str, incoming: Incoming) -> Response:
        """A text in the reader's language, where there is one, else in English."""
        versions, locale = self._texts[name], locale_of(incoming)
        text = versions.get(locale) or versions[SOURCE]
        written = self._site.text(name, locale) if name in TEXTS else None
        if written is None:
            return Page("about/text.html", TextPublic(title=text.title, content=text.content), TextPrivate())
        own = SiteText.parse(written.text) if written.text.startswith("# ") else SiteText(text.title, written.text)
        private = TextPrivate(language=written.language, prose=await self._prose.of([own.content], HEADING))
        return Page("about/text.html", TextPublic(title=own.title, content=own.content), private)

    async def api(self, incoming: Incoming) -> Response:
        return Redirect("/api/docs")

    async def design(self, incoming: Incoming) -> Response:
        return Page("about/design.html", Titled(title="All parts"))


def read(name: str, folders: list[Path]) -> dict[str, SiteText]:
    """The versions of a text by language, of the first folder that has it: ``about.md`` and ``about.de.md``."""
    home = next(folder for folder in folders if (folder / f"{name}.md").is_file())
    files = {code: home / f"{name}{'' if code == SOURCE else f'.{code}'}.md" for code in NAMES}
    return {code: SiteText.read(path) for code, path in files.items() if path.is_file()}
