"""The home page, the texts about the site, the page of all design parts, and ``security.txt`` (RFC 9116).

Texts are the operator's, or those that come with crowdd.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Final, NotRequired, TypedDict

import attrs

from crowdd import PACKAGE
from crowdd.core.rows import FirstSteps
from crowdd.core.site import HEADING, TEXTS, Site, WrittenText
from crowdd.core.text.rendered_text import Laid, Prose
from crowdd.features.accounts.accounts import Accounts
from crowdd.features.news.news import shown_news
from crowdd.features.news.own_home import OwnHome
from crowdd.features.projects.project_lists import FEATURED
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import ProjectSummary
from crowdd.features.projects.serializers import person, project_summary
from crowdd.features.results.result_display import pictures_of
from crowdd.features.site.front import Front
from crowdd.http.html.frames import api_headers
from crowdd.http.reader_language import locale_of
from crowdd.http.request import Incoming
from crowdd.http.responses import BytesResponse, Page, Redirect, Response, Titled
from crowdd.http.routing import Route, Shared, get
from crowdd.kernel.config.server import SiteSettings
from crowdd.kernel.errors import NotFoundError
from crowdd.kernel.languages import NAMES, SOURCE
from crowdd.kernel.values import Values
from crowdd.kinds.category import CATEGORY
from crowdd.kinds.kind import outward

_TOP = 10


class HomePublic(TypedDict):
    """``categories_projects`` has the projects by the short name of their category, and the featured ones."""

    top_projects: list[Values]
    featured: list[Values]
    categories_projects: dict[str, list[Values]]
    categories: list[Values]
    top_users: list[Values]


class OwnPrivate(TypedDict):
    """``OwnHome`` as the page shows it. ``pictures``: among which that of the task is. ``week``: days with answers."""

    project: Values | None
    pictures: list[str]
    done: int
    others: list[Values]
    recent: int
    settled: int
    came: list[Values]
    replies: list[Values]
    news: list[Values]
    week: list[tuple[str, int]]


class ShowcasePrivate(TypedDict):
    """Of the project that visitors see first: ``pictures`` among which that of a task is, and ``agreed`` results."""

    short_name: str
    pictures: list[str]
    agreed: list[Values]


class HomePrivate(TypedDict):
    """``figures`` and ``pulse`` (answers in each of the last 72 hours) are there once the site has answers.

    ``headline`` and ``intro`` are those that administrators wrote, ``prose`` has the latter as HTML. ``steps`` are the
    first steps of an administrator, for those who see them. ``own`` is for people who have answered, ``showcase`` for
    others.
    """

    headline: WrittenText | None
    intro: WrittenText | None
    prose: Laid
    steps: FirstSteps | None
    n_projects_per_category: dict[str, int]
    figures: NotRequired[dict[str, int]]
    pulse: NotRequired[list[int]]
    own: NotRequired[OwnPrivate]
    showcase: NotRequired[ShowcasePrivate]


class HomePages:
    """``/``."""

    def __init__(self, projects: Projects, accounts: Accounts, site: Site, front: Front) -> None:
        self._projects, self._accounts, self._site, self._front = projects, accounts, site, front

    def routes(self) -> Iterator[Route]:
        yield get("/", self.home, hot=True, shared=Shared.VISITORS)
        yield get("/project/", self.projects)

    async def home(self, incoming: Incoming) -> Response:
        """Projects by category, the most active first, and the people with the most answers (interface: page-home)."""
        rows = await self._projects.listed()
        categories = await self._projects.categories()
        summaries = [project_summary(row) for row in rows]
        by_category = {
            category["short_name"]: [s for s in summaries if s["category_id"] == category["id"]]
            for category in categories
        }
        featured = [summary for summary in summaries if summary["featured"]]
        public = HomePublic(
            top_projects=summaries[:_TOP],
            featured=featured,
            categories_projects={"featured": featured, **by_category},
            categories=[FEATURED, *map(_category, categories)],
            top_users=[person(row) for row in await self._accounts.top(_TOP)],
        )
        return Page("home/index.html", public, None if incoming.wants_json else await self._private(incoming, rows))

    async def _private(self, incoming: Incoming, rows: list[ProjectSummary]) -> HomePrivate:
        """What only the HTML page shows."""
        site, locale = self._site, locale_of(incoming)
        own = await self._front.own(incoming.who)
        stats = await self._front.figures() if own is None else None
        private = HomePrivate(
            n_projects_per_category=stats["of_category"] if stats else {},
            headline=site.text("headline", locale),
            intro=site.text("intro", locale),
            prose=site.state.prose,
            steps=await site.first_steps(incoming.who),
        )
        if own is not None:
            private["own"] = own_private(own)
        elif (showcase := await self._front.showcase(rows)) is not None:
            private["showcase"] = ShowcasePrivate(
                short_name=showcase.short_name, pictures=showcase.pictures, agreed=showcase.agreed
            )
        if stats and stats["n_answers"]:
            figures = {"answers": stats["n_answers"], "people": stats["n_people"], "projects": stats["n_open"]}
            private["figures"] = figures
            private["pulse"] = stats["hours"] if any(stats["hours"]) else []
        return private

    async def projects(self, incoming: Incoming) -> Response:
        """The list of projects is on the first page."""
        return Redirect("/")


def own_private(own: OwnHome) -> OwnPrivate:
    """What the page shows of it."""
    days = [(own.since + timedelta(days=n)).isoformat() for n in range(len(own.week))]
    return OwnPrivate(
        project=project_summary(own.project) if own.project else None,
        pictures=pictures_of(own.task["info"], {}) if own.task else [],
        done=own.task["own"] if own.task else 0,
        others=[project_summary(row) for row in own.others],
        recent=own.recent,
        settled=own.settled,
        came=[{**row, "pictures": pictures_of(row["task_info"], {})} for row in own.came],
        replies=[shown_news(row) for row in own.replies],
        news=[shown_news(row) for row in own.news],
        week=list(zip(days, own.week, strict=True)),
    )


def _category(row: Mapping[str, object]) -> Values:
    return {field.name: outward(row[field.name]) for field in CATEGORY.fields}


OURS: Final = PACKAGE / "features/site/texts"
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
        self._texts = {name: read_texts(name, [*folders, OURS / name]) for name in ADDRESSES}

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


def read_texts(name: str, folders: list[Path]) -> dict[str, SiteText]:
    """The versions of a text by language, of the first folder that has it: ``about.md`` and ``about.de.md``."""
    home = next(folder for folder in folders if (folder / f"{name}.md").is_file())
    files = {code: home / f"{name}{'' if code == SOURCE else f'.{code}'}.md" for code in NAMES}
    return {code: SiteText.read(path) for code, path in files.items() if path.is_file()}


SECURITY_TXT_PATH = "/.well-known/security.txt"
_GOOD_DAYS = 180


class SecurityTxt:
    """``/.well-known/security.txt``; ``seconds`` is the time since 1970."""

    def __init__(self, contact: str, base_url: str, seconds: Callable[[], float]) -> None:
        self._contact, self._base_url, self._seconds = contact, base_url, seconds

    def routes(self) -> Iterator[Route]:
        yield get(SECURITY_TXT_PATH, self.text, page=False)

    async def text(self, incoming: Incoming) -> Response:
        """The file, valid for half a year. Raises NotFoundError if the operator has set no contact."""
        if not self._contact:
            raise NotFoundError("404 Not Found")
        now = datetime.fromtimestamp(self._seconds(), UTC)
        body = security_txt(self._contact, f"{self._base_url}{SECURITY_TXT_PATH}", now)
        return BytesResponse(body.encode(), "text/plain; charset=utf-8", headers=api_headers())


def security_txt(contact: str, canonical: str, now: datetime) -> str:
    """The text of the file."""
    address = contact if contact.startswith("https://") else f"mailto:{contact}"
    expires = (now + timedelta(days=_GOOD_DAYS)).replace(hour=0, minute=0, second=0, microsecond=0)
    lines = (
        f"Contact: {address}",
        f"Expires: {expires:%Y-%m-%dT%H:%M:%SZ}",
        "Preferred-Languages: en",
        f"Canonical: {canonical}",
    )
    return "".join(f"{line}\n" for line in lines)
