"""The administrators' pages of the site's settings, the style sheet with the colours that they chose, and its map.

An overview shows the current values, and each group has a page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TypedDict
from urllib.parse import quote

import attrs

from crowdd.core.rows import FirstSteps, SiteRow
from crowdd.core.site import TEXTS, Site, Usual
from crowdd.features.projects.views import admins_only
from crowdd.features.site.site_administration import SETTINGS, SiteAdministration
from crowdd.http.edge import downloads
from crowdd.http.errors import message_of
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.html.frames import SITE_MAP, SITE_STYLE, public_headers
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, BytesResponse, FileResponse, Message, Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import NOT_FOUND, ConflictError, FormError, NotFoundError
from crowdd.kernel.languages import NAMES, _
from crowdd.kernel.values import Json, Values, parse_number
from crowdd.kinds.kind import outward

HERE = "/admin/site"
_LOOK = ("name", "accent_light", "accent_dark")
_RULES = ("default_redundancy", "signup", "signups_per_hour", "max_projects")


class SitePublic(Titled, WithForm):
    """``settings`` are those that administrators made, None where there is none; ``usual`` is what counts then."""

    settings: Values
    usual: Values
    texts: dict[str, Json]


class SitePrivate(TypedDict):
    """``names`` are the languages of the pages by code, ``mail_is_on``: whether e-mails leave the server."""

    names: Mapping[str, str]
    mail_is_on: bool
    steps: FirstSteps | None


class GroupPublic(Titled, WithForm, Message):
    """``version`` is that of the settings that the form shows."""

    version: int


class LookPrivate(TypedDict):
    logo: str | None
    usual: Usual


class TextsPrivate(TypedDict):
    """``max_characters`` has those that each text may have, ``tabs`` code, name and address of each language."""

    language: str
    tabs: Sequence[tuple[str, str, str]]
    max_characters: Mapping[str, int]


class RulesPrivate(TypedDict):
    usual: Usual


class AdminSite:
    """``/admin/site`` and the pages of its groups."""

    def __init__(self, administration: SiteAdministration, site: Site, forms: Forms) -> None:
        self._administration, self._site, self._forms = administration, site, forms

    def routes(self) -> Iterator[Route]:
        yield get(HERE, admins_only(self.overview))
        yield get(f"{HERE}/look", admins_only(self.look_form))
        yield post(f"{HERE}/look", admins_only(self.look))
        yield get(f"{HERE}/texts/<language>", admins_only(self.texts_form))
        yield post(f"{HERE}/texts/<language>", admins_only(self.texts))
        yield get(f"{HERE}/rules", admins_only(self.rules_form))
        yield post(f"{HERE}/rules", admins_only(self.rules))
        yield post(f"{HERE}/test-mail", admins_only(self.test_mail))
        yield post(f"{HERE}/hide-steps", admins_only(self.hide_steps))

    async def overview(self, incoming: Incoming) -> Response:
        row = await self._administration.get(incoming.who)
        public = SitePublic(
            title=_("Site"),
            form=self._forms.blank(incoming),
            settings={name: outward(getattr(row, name)) for name in (*SETTINGS, "logo", "version", "updated")},
            usual=attrs.asdict(self._site.usual),
            texts=dict(row.texts),
        )
        steps = await self._site.first_steps(incoming.who)
        private = SitePrivate(names=NAMES, mail_is_on=self._administration.mail_is_on, steps=steps)
        return Page("admin/site.html", public, private)

    # Name, logo and colours

    async def look_form(self, incoming: Incoming) -> Response:
        row = await self._administration.get(incoming.who)
        return self._look(row, self._forms.filled(incoming, **{name: getattr(row, name) for name in _LOOK}))

    async def look(self, incoming: Incoming) -> Response:
        """Saves the form; the file ``logo`` is a new logo, the box ``remove_logo`` takes it away."""
        picture = incoming.upload("logo") if incoming.content_type == "multipart/form-data" else None
        try:
            await self._administration.change(incoming.who, _said(incoming, _LOOK), _version(incoming))
            if picture is not None and picture.content:
                await self._administration.set_logo(incoming.who, picture)
            elif incoming.flag("remove_logo", False):
                await self._administration.set_logo(incoming.who, None)
        except (FormError, ConflictError) as error:
            row = await self._administration.get(incoming.who)
            return self._look(row, self._refused(incoming, error, _LOOK), _message(error))
        return _saved()

    def _look(self, row: SiteRow, form: Form, message: Message = NO_MESSAGE) -> Response:
        public = GroupPublic(title=_("Name, logo and colours"), form=form, version=row.version, **message)
        return Page("admin/site_look.html", public, LookPrivate(logo=row.logo, usual=self._site.usual))

    # Texts

    async def texts_form(self, incoming: Incoming, language: str) -> Response:
        _require_language(language)
        row = await self._administration.get(incoming.who)
        stored = {name: _text_of(row, name, language) for name in TEXTS}
        return self._texts(row, language, self._forms.filled(incoming, **stored))

    async def texts(self, incoming: Incoming, language: str) -> Response:
        """Saves the texts of one language."""
        _require_language(language)
        changes = {f"{name}.{language}": text for name, text in _said(incoming, tuple(TEXTS)).items()}
        try:
            await self._administration.change(incoming.who, changes, _version(incoming))
        except (FormError, ConflictError) as error:
            row = await self._administration.get(incoming.who)
            return self._texts(row, language, self._refused(incoming, error, tuple(TEXTS)), _message(error))
        return _saved()

    def _texts(self, row: SiteRow, language: str, form: Form, message: Message = NO_MESSAGE) -> Response:
        public = GroupPublic(title=_("Texts"), form=form, version=row.version, **message)
        tabs = [(code, name, f"/admin/site/texts/{code}") for code, name in NAMES.items()]
        return Page("admin/site_texts.html", public, TextsPrivate(language=language, tabs=tabs, max_characters=TEXTS))

    # Accounts and limits

    async def rules_form(self, incoming: Incoming) -> Response:
        row = await self._administration.get(incoming.who)
        return self._rules(row, self._forms.filled(incoming, **{name: getattr(row, name) for name in _RULES}))

    async def rules(self, incoming: Incoming) -> Response:
        """Saves who may sign up, and the limits."""
        try:
            await self._administration.change(incoming.who, _said(incoming, _RULES), _version(incoming))
        except (FormError, ConflictError) as error:
            row = await self._administration.get(incoming.who)
            return self._rules(row, self._refused(incoming, error, _RULES), _message(error))
        return _saved()

    def _rules(self, row: SiteRow, form: Form, message: Message = NO_MESSAGE) -> Response:
        public = GroupPublic(title=_("Sign-up and limits"), form=form, version=row.version, **message)
        return Page("admin/site_rules.html", public, RulesPrivate(usual=self._site.usual))

    # Acts

    async def test_mail(self, incoming: Incoming) -> Response:
        """Writes a test e-mail to the administrator who asks."""
        address = await self._administration.send_test_mail(incoming.who)
        if not self._administration.mail_is_on:
            words = _("Mail is switched off ([mail] host in crowdd.conf). The test e-mail is held.")
            return Redirect("/admin/mail", words, "warning")
        return Redirect("/admin/mail", _("A test e-mail is on its way to %(address)s.", address=address))

    async def hide_steps(self, incoming: Incoming) -> Response:
        """Hides the first steps from all administrators."""
        await self._administration.hide_steps(incoming.who)
        return Redirect("/", _("The first steps are hidden. The settings are under Administration, Site."))

    def _refused(self, incoming: Incoming, error: FormError | ConflictError, names: tuple[str, ...]) -> Form:
        errors = error.errors if isinstance(error, FormError) else {}
        plain = {key.partition(".")[0]: sentences for key, sentences in errors.items()}
        return self._forms.refused(incoming, plain, *names)


def _said(incoming: Incoming, names: tuple[str, ...]) -> dict[str, str]:
    """The settings that a form names; one that it leaves out stays as it is."""
    return {name: incoming.field(name) for name in names if name in incoming.form}


def _version(incoming: Incoming) -> int | None:
    return parse_number(incoming.field("version"))


def _message(error: FormError | ConflictError) -> Message:
    return MISTAKES if isinstance(error, FormError) else Message(flash=message_of(error), status="error")


def _saved() -> Response:
    return Redirect(HERE, _("Settings saved."))


def _require_language(language: str) -> None:
    if language not in NAMES:
        raise NotFoundError(f"{quote(language)} is not a language of this site.")


def _text_of(row: SiteRow, name: str, language: str) -> Json:
    written = row.texts.get(name)
    return written.get(language, "") if isinstance(written, dict) else ""


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


class SiteMap:
    """``/site.pmtiles``, the file ``[maps] file`` in the data folder. Browsers load the parts that their maps show."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def routes(self) -> Iterator[Route]:
        yield get(SITE_MAP, self.file, page=False)

    async def file(self, incoming: Incoming) -> Response:
        path = self._path
        if path is None or not path.is_file():
            raise NotFoundError(NOT_FOUND)
        stat = path.stat()
        etag = f'"{stat.st_mtime_ns:x}-{stat.st_size:x}"'
        # Scripts read the ETag, and begin again when the file is another one.
        headers = {**public_headers(), "Access-Control-Expose-Headers": "ETag", "Cache-Control": "public, max-age=3600"}

        def sent(begin: int, end: int, status: int, more: dict[str, str]) -> Response:
            return FileResponse(path, _MAP_TYPE, begin, end, status, more)

        return downloads.answer_file(incoming, etag, stat.st_size, _MAP_TYPE, headers, sent)


_MAP_TYPE: Final = "application/vnd.pmtiles"


def style_of(light: str | None, dark: str | None) -> str:
    """The custom properties of an accent in both themes; None: that of tokens.css."""
    of_light = (light, f"color-mix(in oklab, {light} 75%, #000)", light) if light else _LIGHT
    of_dark = (dark, f"color-mix(in oklab, {dark} 60%, #fff)", dark) if dark else _DARK
    names = ("--blue", "--blue-2", "--link")
    declarations = (f"{name}: light-dark({a}, {b})" for name, a, b in zip(names, of_light, of_dark, strict=True))
    return f":root {{ {'; '.join(declarations)} }}\n"
