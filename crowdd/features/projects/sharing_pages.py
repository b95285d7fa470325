"""The pages that share a project: link, QR code, poster, words for e-mail, and a card for frames of other sites."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from crowdd.core.records.records import Records
from crowdd.features.projects.posters import Posters
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.projects.views import ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.http.edge.headers import best_language
from crowdd.http.html.frames import card_headers
from crowdd.http.html.images import QrCode, qr_png, qr_svg, shown_code
from crowdd.http.html.rendering import Templates
from crowdd.http.reader_language import locale_of
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, BytesResponse, Message, Page, Response
from crowdd.http.routing import Handler, Route, get
from crowdd.kernel.errors import ForbiddenError, InvalidValueError, NotFoundError, UnavailableError
from crowdd.kernel.languages import NAMES, Languages, _
from crowdd.kernel.languages.content_languages import direction_of
from crowdd.kernel.requester import Requester
from crowdd.kinds.project import PROJECT

_AT = "/project/<short_name>/share"


class SharingPublic(ProjectPublic, Message):
    """``link`` opens the project; that of a draft lets people try it."""

    link: str


class SharingPrivate(ProjectPrivate):
    """``locked``: people need the project's password."""

    qr: QrCode | None
    locked: bool


class SharingPages:
    """``/project/<short_name>/share``, for owners, and the files below it."""

    def __init__(self, projects: Projects, posters: Posters, languages: Languages, views: ProjectViews) -> None:
        self._projects, self._posters, self._languages, self._views = projects, posters, languages, views

    def routes(self) -> Iterator[Route]:
        yield get(_AT, locked_out(self.page))
        yield get(f"{_AT}/poster", locked_out(self.printed))
        yield get(f"{_AT}/poster.pdf", locked_out(self.poster), page=False)
        yield get(f"{_AT}/qr.svg", locked_out(self._code(qr_svg, "svg", "image/svg+xml")), page=False)
        yield get(f"{_AT}/qr.png", locked_out(self._code(qr_png, "png", "image/png")), page=False)

    async def page(self, incoming: Incoming, short_name: str) -> Response:
        """What an owner copies and downloads."""
        return await self._page(incoming, await self._projects.owned(short_name, incoming.who))

    async def _page(
        self, incoming: Incoming, row: ProjectPage, message: Message = NO_MESSAGE, status: int = 200
    ) -> Response:
        context = await self._views.context(incoming, row, _("Share this project"))
        link = self._link(row)
        public = SharingPublic(**context.public, **message, link=link)
        private = SharingPrivate(**context.private, qr=shown_code(link), locked=row["lock_id"] is not None)
        return Page("project/share.html", public, private, status)

    async def poster(self, incoming: Incoming, short_name: str) -> Response:
        """The poster as PDF. Where it cannot be drawn, the page says why and offers to print it instead."""
        row = await self._published(short_name, incoming.who)
        call = self._languages.say(_("Take part: scan the code, or open"), locale_of(incoming))
        try:
            content = await self._posters.pdf(row, self._views.address(row), call)
        except (InvalidValueError, UnavailableError) as error:
            if incoming.wants_json:
                raise
            http_status = 503 if isinstance(error, UnavailableError) else 400
            return await self._page(incoming, row, Message(flash=error.args[0], status="error"), http_status)
        return BytesResponse(content, "application/pdf", headers=_attached(short_name, "poster.pdf"))

    async def printed(self, incoming: Incoming, short_name: str) -> Response:
        """The same poster as a page, which the browser prints with its own fonts."""
        row = await self._published(short_name, incoming.who)
        context = await self._views.context(incoming, row, _("Poster"))
        link = self._link(row)
        public = SharingPublic(**context.public, **NO_MESSAGE, link=link)
        return Page("project/poster.html", public, SharingPrivate(**context.private, qr=shown_code(link), locked=False))

    def _code(self, draw: Callable[[str], bytes], ending: str, content_type: str) -> Handler:
        async def code(incoming: Incoming, short_name: str) -> Response:
            row = await self._projects.owned(short_name, incoming.who)
            headers = _attached(short_name, f"qr.{ending}")
            return BytesResponse(draw(self._link(row)), content_type, headers=headers)

        return code

    async def _published(self, short_name: str, who: Requester) -> ProjectPage:
        row = await self._projects.owned(short_name, who)
        if not row["published"]:
            raise NotFoundError(
                _("Posters are only available for published projects."), hint=_("Publish the project first.")
            )
        return row

    def _link(self, row: ProjectPage) -> str:
        return self._views.try_link(row) or self._views.address(row)


def _attached(short_name: str, name: str) -> dict[str, str]:
    """The headers of a file that is saved. Short names hold letters of any script, headers only those of ASCII."""
    plain = "".join(each if each.isascii() and (each.isalnum() or each in "-_.") else "-" for each in short_name)
    return {"Content-Disposition": f'attachment; filename="{plain}-{name}"', "Cache-Control": "private, no-store"}


_KEPT_SECONDS = 60


class CardPages:
    """``/project/<short_name>/embed``: name, progress and a button that opens the project in a window of its own.

    It is the same for everybody, whatever their cookies say: only what strangers may see is on it. It has no script and
    no form, and its only link opens another window, so a page around it gains nothing by hiding or covering it.
    """

    def __init__(self, projects: Projects, records: Records, templates: Templates) -> None:
        self._projects, self._records, self._templates = projects, records, templates

    def routes(self) -> Iterator[Route]:
        yield get("/project/<short_name>/embed", self.card, page=False)

    async def card(self, incoming: Incoming, short_name: str) -> Response:
        """The card in the language of the query ``language``, or one that the browser asks for."""
        asked = incoming.query.get("language", "")
        locale = asked if asked in NAMES else best_language(incoming.header("accept-language"))
        row = await self._shown(short_name, locale)
        context = {
            "project": None if row is None else self._records.public_view(PROJECT, row),
            "n_tasks": row and int(row["n_tasks"]),
            "overall_progress": row and int(row["overall_progress"]),
            "translated": {} if row is None else row.get("translated", {}),
            "locale": locale,
            "direction": direction_of(locale),
        }
        document = self._templates.render("project/embed.html", context)
        headers = {
            **card_headers(incoming.header("host")),
            "Cache-Control": f"public, max-age={_KEPT_SECONDS}",
            "Vary": "Accept-Language",
        }
        return BytesResponse(document.encode(), status=404 if row is None else 200, headers=headers)

    async def _shown(self, short_name: str, locale: str) -> ProjectPage | None:
        """The project in a language, or None where a stranger may not see it."""
        try:
            row = await self._projects.shown(short_name, Requester(), locale)
        except (NotFoundError, ForbiddenError):
            return None
        return row if row["published"] else None
