"""The pages of translations: the languages of a project, and its texts side by side with one of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypedDict
from urllib.parse import quote

from crowdd.core.records import rights
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.projects.views import ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.features.translations.rows import LanguageProgress, TranslatedString
from crowdd.features.translations.translations import MAX_STRINGS, Change, Outcome, TextTranslations
from crowdd.http import queries
from crowdd.http.errors import message_of
from crowdd.http.html.forms import MISTAKES, Form, Forms, WithForm
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import NotFoundError
from crowdd.kernel.languages import NAMES, _, ngettext
from crowdd.kernel.languages.content_languages import language_of
from crowdd.kernel.requester import Requester
from crowdd.kinds.roles import OWNERS, TRANSLATORS
from crowdd.kinds.translations import digest_of, same_language

_AT: Final = "/project/<short_name>/languages"
_PER_PAGE: Final = 50
_FILTERS: Final = ("missing", "outdated", "translated")
_KINDS: Final = {"choices": "choice", "labels": "label", "rows": "row"}
"""What a text is called that stands in one of these lists."""


class LanguagesPublic(ProjectPublic, WithForm):
    """``source_language`` is that of the project, "" if it names none."""

    source_language: str
    translations: list[LanguageProgress]


class LanguagesPrivate(ProjectPrivate):
    """``written``: volunteers see HTML of the owner, which is not translated."""

    owns: bool
    written: bool


class ShownString(TypedDict):
    """A text for the page: what it is (``kind``) and of which part, and what the fields of the form have.

    ``name`` ends the names of these, and stays with the text: drafts in the browser are kept by it.
    ``document`` is the first part of its key, ``theirs`` what somebody else has written meanwhile, None for nothing.
    """

    string: TranslatedString
    name: str
    document: str
    kind: str
    part: str
    text: str
    seen: str
    error: str
    theirs: str | None


class LanguagePublic(ProjectPublic, WithForm, Message):
    """``strings`` of one page, ``counts`` of all by their state."""

    language: str
    source_language: str
    version: int
    counts: dict[str, int]
    strings: list[TranslatedString]


class LanguagePrivate(ProjectPrivate):
    """``show``: only texts in this state ("" for all); ``pages`` of them."""

    owns: bool
    show: str
    page: int
    pages: int
    rows: list[ShownString]


class _Sent(TypedDict):
    """What the fields of one text had, after they were refused."""

    text: str
    error: str
    theirs: bool


class LanguagePages:
    """``/project/<short_name>/languages`` and ``…/languages/<language>``, for owners and translators."""

    def __init__(self, projects: Projects, translations: TextTranslations, forms: Forms, views: ProjectViews) -> None:
        self._projects, self._translations = projects, translations
        self._forms, self._views = forms, views

    def routes(self) -> Iterator[Route]:
        yield get(_AT, locked_out(self.languages))
        yield get(f"{_AT}/<language>", locked_out(self.language))
        yield post(f"{_AT}/<language>", locked_out(self.save))
        yield post(f"{_AT}/<language>/delete", locked_out(self.delete))

    async def languages(self, incoming: Incoming, short_name: str) -> Response:
        """The languages of pages, and how far each is."""
        row = await self._row(short_name, incoming.who)
        context = await self._views.context(incoming, row, _("Languages"))
        public = LanguagesPublic(
            **context.public,
            form=self._forms.blank(incoming),
            source_language=language_of(row["info"]),
            translations=await self._translations.progress(incoming.who, row["id"]),
        )
        private = LanguagesPrivate(
            **context.private, owns=bool(row["roles"] & OWNERS), written=bool(row["info"].get("task_presenter"))
        )
        return Page("project/languages.html", public, private)

    async def language(self, incoming: Incoming, short_name: str, language: str) -> Response:
        """A page of texts, all or those in the state ``show``."""
        row = await self._row(short_name, incoming.who)
        if language not in NAMES:
            raise NotFoundError(_("Pages do not have this language."))
        source = language_of(row["info"])
        if not source or same_language(source, language):
            return Redirect(_path(row))
        return await self._page(incoming, row, language, self._forms.blank(incoming))

    async def _row(self, short_name: str, who: Requester) -> ProjectPage:
        row = await self._projects.page(short_name, who)
        rights.require(who, row["roles"], TRANSLATORS)
        return row

    async def _page(
        self,
        incoming: Incoming,
        row: ProjectPage,
        language: str,
        form: Form,
        message: Message = NO_MESSAGE,
        sent: dict[str, _Sent] | None = None,
    ) -> Response:
        translation = await self._translations.get(incoming.who, row["id"], language)
        strings, show = translation["strings"], incoming.query.get("show", "")
        show = show if show in _FILTERS else ""
        wanted = [each for each in strings if each["key"] in (sent or ()) or (not sent and show in ("", each["state"]))]
        pages = max(1, -(-len(wanted) // _PER_PAGE))
        number = min(max(1, queries.parse_number(incoming.query.get("page") or "1", "page", 1)), pages)
        here = wanted[(number - 1) * _PER_PAGE : number * _PER_PAGE]
        context = await self._views.context(incoming, row, NAMES[language])
        public = LanguagePublic(
            **context.public,
            **message,
            form=form,
            language=language,
            source_language=translation["source_language"],
            version=translation["version"],
            counts={state: sum(each["state"] == state for each in strings) for state in _FILTERS},
            strings=here,
        )
        private = LanguagePrivate(
            **context.private,
            owns=bool(row["roles"] & OWNERS),
            show=show,
            page=number,
            pages=pages,
            rows=[_shown(each, (sent or {}).get(each["key"])) for each in here],
        )
        return Page("project/translation.html", public, private)

    async def save(self, incoming: Incoming, short_name: str, language: str) -> Response:
        """Stores the texts of the form that were changed, or confirmed (interface: page-translations)."""
        row = await self._row(short_name, incoming.who)
        changes = [*_changes(incoming)]
        outcome = await self._translations.change(incoming.who, row["id"], language, changes)
        if outcome.errors or outcome.conflicts:
            words = {change.key: change.text for change in changes}
            sent = {
                each.key: _Sent(
                    text=words[each.key],
                    error=message_of(outcome.errors[each.key]) if each.key in outcome.errors else "",
                    theirs=each.key in outcome.conflicts,
                )
                for each in changes
                if outcome.errors or each.key in outcome.conflicts
            }
            return await self._page(incoming, row, language, self._forms.blank(incoming), MISTAKES, sent)
        here = f"{_path(row)}/{language}"
        show, page = incoming.query.get("show", ""), incoming.query.get("page", "")
        query = f"?show={show}" if show in _FILTERS else f"?page={page}" if page.isdecimal() else ""
        return Redirect(here + query, _saved(outcome), more={"unknown": outcome.unknown})

    async def delete(self, incoming: Incoming, short_name: str, language: str) -> Response:
        """Removes the translations into a language, for owners."""
        row = await self._projects.owned(short_name, incoming.who)
        done = await self._translations.remove(incoming.who, row["id"], language)
        words = _("The translation is deleted.") if done else _("There is no translation into this language.")
        return Redirect(_path(row), words, "success" if done else "info")


def _path(row: ProjectPage) -> str:
    return f"/project/{quote(row['short_name'])}/languages"


def _changes(incoming: Incoming) -> Iterator[Change]:
    """The texts of a form whose translation was changed or confirmed; for each a key, the text, and digests."""
    for part in [name.removeprefix("key-") for name in incoming.form if name.startswith("key-")][:MAX_STRINGS]:
        key, text, seen = (incoming.field(f"{name}-{part}") for name in ("key", "text", "seen"))
        text = text.replace("\r\n", "\n").strip()
        changed = digest_of(text) != (seen or digest_of(""))
        if key and (changed or (text and incoming.flag(f"fits-{part}", stored=False))):
            yield Change(key, text, incoming.field(f"digest-{part}") or None, seen or None)


def _shown(string: TranslatedString, sent: _Sent | None) -> ShownString:
    parts = [part.replace("~1", "/").replace("~0", "~") for part in string["key"].split("/")]
    document, name, places = parts[0], parts[-1], parts[1:-1]
    if document != "questions" and places[:1] in (["steps"], ["entries"], ["groups"]):
        places = places[1:]
    kind = next((_KINDS[place] for place in places if place in _KINDS), name)
    return ShownString(
        string=string,
        name=digest_of(string["key"]),
        document=document,
        kind="question" if document == "questions" and kind == "text" else kind,
        part=" · ".join(place for place in places if place not in _KINDS),
        text=string["text"] if sent is None else sent["text"],
        seen=digest_of(string["text"]),
        error="" if sent is None else sent["error"],
        theirs=string["text"] if sent is not None and sent["theirs"] else None,
    )


def _saved(outcome: Outcome) -> str:
    left = sum(each["state"] != "translated" for each in outcome.translation["strings"])
    if not left:
        return _("Saved. All texts are translated.")
    return ngettext("Saved. %(num)s text is left.", "Saved. %(num)s texts are left.", left)
