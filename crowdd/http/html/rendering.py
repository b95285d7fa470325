"""Jinja2 for our pages: the environment, its filters, its template files and byte code, and the reader's language.

A template gets the public and the private context of its page and the frame's own names: ``site``, ``who``, ``csrf``,
``csp_nonce``, ``flashes``, ``locale``, ``direction``, ``theme``, ``path``. A missing name is an error, not a gap.

The language is the account's, else the cookie's, else the one that the browser asks for. Large pages are drawn in
pieces, between which the reactor goes on. To compile a page's template and those it includes takes up to 150 ms, for
which nobody else is answered, so that the byte code is kept between starts.
"""

from __future__ import annotations

import hashlib
import itertools
import pickle
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Final

import attrs
import jinja2
import orjson
from babel import Locale
from babel.dates import format_date, format_skeleton, format_timedelta
from babel.numbers import format_compact_decimal, format_decimal
from babel.units import format_unit
from jinja2 import BaseLoader, Environment, StrictUndefined, TemplateNotFound, pass_context
from jinja2.bccache import Bucket, BytecodeCache, FileSystemBytecodeCache
from jinja2.runtime import Context
from markupsafe import Markup
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater

from crowdd import PACKAGE
from crowdd.core.site import Appearance
from crowdd.core.text.markdown import to_html
from crowdd.core.text.picture_addresses import FILES_AT, upload_path
from crowdd.http.edge.headers import best_language
from crowdd.http.html import frames
from crowdd.http.html.answer_words import alone, answer_keys, asked_keys, in_words, lines_of, marks_of
from crowdd.http.html.images import draw_placeholder
from crowdd.http.html.static_files import StaticFiles, folder_for
from crowdd.http.request import Incoming
from crowdd.kernel import exact_json
from crowdd.kernel.languages import NAMES, Languages
from crowdd.kernel.languages.content_languages import CONTENT_LANGUAGES, direction_of, language_of
from crowdd.sched.queue_worker import handlers


class _ByteCode(FileSystemBytecodeCache):
    """Files of Jinja. A damaged one counts as missing, and a full disk keeps no page from being rendered."""

    def load_bytecode(self, bucket: Bucket) -> None:
        try:
            super().load_bytecode(bucket)
        except (pickle.UnpicklingError, EOFError, ValueError, TypeError, OSError):
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):
            super().dump_bytecode(bucket)


def open_byte_code_cache(templates: Path, made_by: Path, data: Path | None = None) -> FileSystemBytecodeCache | None:
    """What keeps it for the templates of a folder; None where nothing can be written.

    A file holds for one text of its template, one Python (both are Jinja's rule), one Jinja, and one ``made_by``: the
    module with the settings and filters that they are compiled with.
    """
    folder = folder_for(templates, data, "templates")
    if folder is None:
        return None
    settings = hashlib.sha256(made_by.read_bytes()).hexdigest()[:8]
    return _ByteCode(str(folder), f"jinja-{jinja2.__version__}-{settings}-%s")


def sweep_byte_code(cache: BytecodeCache | None) -> None:
    """Removes what other settings and another Jinja have left."""
    if isinstance(cache, _ByteCode):
        for path in Path(cache.directory).glob("jinja-*"):
            if not path.name.startswith(cache.pattern.removesuffix("%s")):
                path.unlink(missing_ok=True)


class TemplateFiles(BaseLoader):
    """Finds templates: those of every page in one folder, those of a feature beside it. They are listed once.

    The name of a page's template is part of the interface (``template`` in its JSON answer). Its file in the folder of
    a feature has the same name with the slash as an underscore: ``project/tasks.html`` is ``project_tasks.html``.
    """

    def __init__(self, folder: Path, features: Path | None = None) -> None:
        own = [] if features is None else features.glob("*/templates/*.html")
        self._files = {
            **{str(path.relative_to(folder)): path for path in folder.rglob("*.html")},
            **{path.name.replace("_", "/", 1): path for path in own},
        }

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, None]:
        """The text and the path of a template. Raises TemplateNotFound."""
        path = self._files.get(template)
        if path is None:
            raise TemplateNotFound(template)
        return path.read_text("utf-8"), str(path), None

    def list_templates(self) -> list[str]:
        """The names of all templates, sorted."""
        return sorted(self._files)


NO_BREAK: Final = "\N{NO-BREAK SPACE}"
UNKNOWN: Final = "–"
"""What stands for a figure that the reader may not see or that is not known."""
_SAMPLE: Final = re.compile(rf"{FILES_AT}[a-z0-9-]+/[A-Za-z0-9_-]+\.(?:webp|png|jpe?g|gif)")
_OTHER_MEDIA: Final = re.compile(
    r"\.(?:aac|flac|m4a|mp3|oga|ogg|opus|wav|m4v|mov|mp4|ogv|webm|pdf|txt)$", re.IGNORECASE
)

_LOCALES: Final[Mapping[str, Locale]] = {
    code: Locale.parse("en_GB" if code == "en" else code) for code in NAMES
}  # English dates and numbers are those of no country in particular
_UNITS: Final = ((60, 1), (3600, 60), (86400, 3600), (30 * 86400, 86400))  # up to how many seconds, seconds in the unit


_NUMBERS: Final = (100, 11, 3, 0, 2, 1)  # among them one of each plural category of every language


@attrs.frozen
class SiteContext:
    """What every page knows of the server."""

    static_files: StaticFiles = attrs.field(repr=False)
    appearance: Callable[[], Appearance] = Appearance
    base_url: str = ""
    has: Callable[[str], bool] = attrs.field(default=lambda path: True, repr=False)
    """Whether a path of this site is answered: a page links to nothing that is not there."""

    @staticmethod
    def frames(path: str) -> bool:
        """Whether the page of this address shows a presenter: nothing that takes text may open over it (record 21)."""
        return frames.FRAMED.fullmatch(path) is not None

    @property
    def name(self) -> str:
        """The name of the site."""
        return self.appearance().name

    @property
    def logo(self) -> str:
        """The path of its logo, or nothing."""
        return self.appearance().logo

    @property
    def style(self) -> str:
        """The path of the style sheet with its colours, or nothing."""
        return self.appearance().style

    @property
    def map(self) -> dict[str, str]:
        """The map that the site offers: its ``tiles`` and ``attribution``."""
        shown = self.appearance()
        return {"tiles": shown.tiles, "attribution": shown.attribution}

    def static(self, path: str) -> str:
        """The versioned address of a static file."""
        return self.static_files.url(path)

    def inline(self, *paths: str) -> Markup:
        """Scripts or style sheets for an element of the page itself."""
        return Markup(self.static_files.text(*paths))  # noqa: S704 - files of ours

    @property
    def early_script(self) -> Markup:
        """The script that the page around a presenter has in itself."""
        return self.inline(*frames.EARLY_SCRIPTS)

    @property
    def early_sheet(self) -> Markup:
        """Its style sheet."""
        return self.inline(*frames.EARLY_SHEETS)


class Templates:
    """Renders our templates. Built once; ``now`` is asked at each use of ``ago``, ``appearance`` for each page."""

    def __init__(
        self,
        static: StaticFiles,
        *,
        now: Callable[[], datetime],
        appearance: Callable[[], Appearance] = Appearance,
        base_url: str = "",
        languages: Languages | None = None,
        folder: Path | None = None,
        data: Path | None = None,
    ) -> None:
        """``data``: the data folder of the server, if it has one."""
        features = PACKAGE / "features" if folder is None else None
        folder = folder or PACKAGE / "http/templates"
        self.environment = Environment(
            autoescape=True,
            undefined=StrictUndefined,
            loader=TemplateFiles(folder, features),
            bytecode_cache=open_byte_code_cache(folder, Path(__file__), data),
            optimized=False,  # what filters make of constants is no part of the byte code that is kept
            extensions=["jinja2.ext.i18n"],
            auto_reload=False,
            trim_blocks=False,
        )
        # A task's columns keep their order: presenters take the first that fits, in previews as for volunteers.
        self.environment.policies["json.dumps_kwargs"] = {}
        self.environment.policies["json.dumps_function"] = _script_json
        languages = languages or Languages()
        words = _Words(languages, now)
        words.install(self.environment)
        self._site = SiteContext(static, appearance, base_url.rstrip("/"))
        self.environment.globals["site"] = self._site
        self.environment.globals["handlers"] = handlers()
        self.environment.globals |= {"languages": languages.names, "zip": zip, "content_languages": CONTENT_LANGUAGES}
        self.environment.filters |= {
            "drawing": draw_placeholder,
            "markdown": _markdown,
            "excerpt": _excerpt,
            "our_markdown": to_html,
            "thumbnail": self._thumbnail,
            "avatar": self._avatar,
            "own_picture": self._own_picture,
            "language": language_of,
            "direction": direction_of,
        }
        self._base_url = base_url.rstrip("/")

    def size(self, path: str) -> int:
        """How many bytes a static file has as most browsers get it."""
        return self._site.static_files.size(path)

    @cached_property
    def inlined(self) -> frames.Inlined:
        """What the page around a presenter has in itself, for its policy."""
        source = self._site.static_files.source
        return frames.Inlined(source(*frames.EARLY_SCRIPTS), source(*frames.EARLY_SHEETS))

    def add_functions(self, functions: Mapping[str, Callable[..., object]]) -> None:
        """Lets templates call these functions of a feature by their names. Not after anything was rendered."""
        self.environment.globals |= functions

    def render(self, name: str, context: Mapping[str, object]) -> str:
        """The page as text. TemplateNotFound for an unknown name, UndefinedError for a name the context lacks."""
        return self.environment.get_template(name).render(context)

    def pieces(self, name: str, context: Mapping[str, object]) -> Iterator[str]:
        """The same in pieces, each made when it is asked for; errors as those of ``render``."""
        return self.environment.get_template(name).generate(context)

    def compile_all(self) -> None:
        """Compiles what has no byte code that is kept yet: two seconds after an installation, for a thread."""
        cache, loader = self.environment.bytecode_cache, self.environment.loader
        if cache is None or loader is None:
            return
        for name in self.environment.list_templates():
            source, path, _ = loader.get_source(self.environment, name)
            bucket = cache.get_bucket(self.environment, name, path, source)
            if bucket.code is None:
                bucket.code = self.environment.compile(source, name, path)
                cache.set_bucket(bucket)
        sweep_byte_code(cache)

    def set_answered(self, has: Callable[[str], bool]) -> None:
        """Tells the pages which paths are answered; until then they believe that all are."""
        self.environment.globals["site"] = attrs.evolve(self._site, has=has)

    def names(self) -> list[str]:
        """All templates there are, sorted."""
        return sorted(self.environment.list_templates(extensions=["html"]))

    def _thumbnail(self, project: Mapping[str, Any]) -> str:
        """The path of a project's own picture on this server, or nothing: a page asks no other server."""
        return self._own_picture((project.get("info") or {}).get("thumbnail_url"))

    def _avatar(self, user: Mapping[str, Any]) -> str:
        """The path of a person's picture on this server, or nothing."""
        return self._own_picture((user.get("info") or {}).get("avatar_url"))

    def _own_picture(self, address: object) -> str:
        """The path of an uploaded picture or of one of a template's samples, or nothing: a page asks no other server,
        and no other address of ours. Sounds, videos and documents are no pictures.
        """
        if isinstance(address, str) and _SAMPLE.fullmatch(address):
            return address
        path = upload_path(address, self._base_url)
        return "" if _OTHER_MEDIA.search(path) else path


class _Words:
    """Filters that speak: each looks up the page's ``locale`` when it is used."""

    def __init__(self, languages: Languages, now: Callable[[], datetime]) -> None:
        self._languages, self._now = languages, now

    def install(self, environment: Environment) -> None:
        """Puts ``_``, ``gettext``, ``ngettext`` and the filters into the environment."""
        install: Callable[..., None] = environment.install_gettext_callables  # type: ignore[attr-defined]
        install(self._gettext, self._ngettext, newstyle=True)
        environment.globals["by_number"] = self._by_number
        environment.filters |= {"thousands": thousands, "number": number, "compact": compact}
        environment.filters |= {"percent": percent, "share": share, "probability": probability}
        environment.filters["size"] = size
        environment.filters |= {
            "for_number": for_number,
            "date": date,
            "day": day,
            "ago": self._ago,
            "epoch": epoch,
            "until": self._until,
            "within": within,
            "roundup": roundup,
            "plain": plain,
            "alone": alone,
            "answer_keys": answer_keys,
            "asked_keys": asked_keys,
            "lines_of": lines_of,
            "marks_of": marks_of,
            "in_words": self._in_words,
        }

    @pass_context
    def _gettext(self, context: Context, message: str) -> str:
        return self._languages.of(str(context.get("locale", ""))).gettext(message)

    @pass_context
    def _ngettext(self, context: Context, one: str, many: str, count: int) -> str:
        return self._languages.of(str(context.get("locale", ""))).ngettext(one, many, count)

    @pass_context
    def _by_number(self, context: Context, one: str, many: str) -> dict[str, str]:
        """What ``ngettext`` says, for each plural category of the language (CLDR); its names stand in it as {name}."""
        category, translate = _locale(context).plural_form, self._ngettext
        named = re.compile(r"%\((\w+)\)s")
        return {category(n): named.sub(r"{\1}", translate(context, one, many, n)) for n in _NUMBERS}

    @pass_context
    def _in_words(self, context: Context, value: object) -> str:
        """A JSON value as words of the page's language."""
        return in_words(value, partial(self._gettext, context), _locale(context))

    @pass_context
    def _ago(self, context: Context, value: object) -> str:
        """A time of ours as "4 minutes ago", after thirty days as its date; the record's own words stay as they are."""
        time = parse_time(value)
        if time is None:
            return str(value or UNKNOWN)
        age = max(1, int((self._now() - time).total_seconds()))
        return _span(context, age, -1) or date(context, value)

    @pass_context
    def _until(self, context: Context, value: object) -> str:
        """A time of ours that is to come as "in 4 minutes", beyond thirty days as its date."""
        time = parse_time(value)
        if time is None:
            return str(value or UNKNOWN)
        left = max(1, int((time - self._now()).total_seconds()))
        return _span(context, left, 1) or date(context, value)


def _span(context: Context, seconds: int, direction: int) -> str | None:
    """So many seconds in words, ago (-1) or to come (1); None where a date says more."""
    for limit, unit in _UNITS:
        if seconds < limit:
            span = direction * (seconds // unit * unit)
            return format_timedelta(span, add_direction=True, threshold=1, locale=_locale(context))
    return None


@pass_context
def within(context: Context, seconds: int) -> str:
    """So many seconds to come as "in 4 minutes", nothing beyond thirty days."""
    return _span(context, max(1, seconds), 1) or ""


def _locale(context: Context) -> Locale:
    return _LOCALES.get(str(context.get("locale", "")), _LOCALES["en"])


def epoch(seconds: float) -> datetime:
    """The moment so many seconds after 1970 began."""
    return datetime.fromtimestamp(seconds, UTC)


@pass_context
def _markdown(context: Context, text: str, top: int = 3) -> Markup:
    """A text of somebody as HTML: laid out before, and in the page's private context as ``prose``."""
    return context["prose"][text, top].html if text else Markup()


@pass_context
def _excerpt(context: Context, text: str, top: int = 3, length: int = 200) -> str:
    """The first words of such a text, without marks."""
    if not text:
        return ""
    words: str = context["prose"][text, top].excerpt
    return words if len(words) <= length else f"{words[: length - 1].rsplit(' ', 1)[0]}…"


@pass_context
def for_number(context: Context, forms: Mapping[str, str], count: int, **names: object) -> str:
    """One of the forms that ``by_number`` gave, with its names; ``count`` stands in it as a number of the language."""
    return forms.get(_locale(context).plural_form(count), forms["other"]).format(
        **{"count": thousands(context, count), **names}
    )


@pass_context
def date(context: Context, value: object) -> str:
    """A time of ours as "12 November 2024"; other text stays as it is."""
    time = parse_time(value)
    return str(value or UNKNOWN) if time is None else format_date(time, "long", locale=_locale(context))


@pass_context
def day(context: Context, value: object) -> str:
    """A day as "12 Nov"; other text stays as it is."""
    time = parse_time(value)
    return str(value or UNKNOWN) if time is None else format_skeleton("MMMd", time, locale=_locale(context))


@pass_context
def thousands(context: Context, value: float | None) -> str:
    """12345 as "12,345", with the separator of the page's language."""
    return UNKNOWN if value is None else format_decimal(int(value), locale=_locale(context))


@pass_context
def number(context: Context, value: float | None, digits: int = 0) -> str:
    """1234.567 with two digits as "1,234.57"."""
    if value is None:
        return UNKNOWN
    return format_decimal(round(value, digits), format=f"#,##0.{'0' * digits}", locale=_locale(context))


@pass_context
def compact(context: Context, value: float) -> str:
    """12345 as "12K", for the axis of a chart."""
    return format_compact_decimal(value, fraction_digits=1 if value < 10 else 0, locale=_locale(context))


@pass_context
def size(context: Context, value: float) -> str:
    """A number of bytes as "812 kB", in the units of the page's language."""
    units = iter(("byte", "kilobyte", "megabyte", "gigabyte"))
    unit = next(units)
    while value >= 999.5 and (larger := next(units, None)):
        value, unit = value / 1000, larger
    digits = 1 if value < 10 and unit != "byte" else 0
    locale, name = _locale(context), f"digital-{unit}"
    amount = round(value, digits)
    words = format_unit(amount, name, length="long" if unit == "byte" else "short", locale=locale)
    if name in words:  # CLDR has no long name in Arabic
        words = format_unit(amount, name, length="short", locale=locale)
    return words


def roundup(value: float) -> float:
    """The next of 2, 4, 10, 20, 40, 100 … that is not below: where an axis ends, and half of it is round."""
    end, steps = 2.0, itertools.cycle((2, 2.5, 2))
    while end < value:
        end *= next(steps)
    return end


@pass_context
def percent(context: Context, value: float | None) -> str:
    """A share out of 100 as "73 %". Rounded down: 99.9 is not yet all."""
    return UNKNOWN if value is None else f"{thousands(context, value)}{NO_BREAK}%"


@pass_context
def share(context: Context, value: float) -> Markup:
    """A part of one as "73 %", rounded. What is neither nothing nor all is never shown as such: "< 1 %", "> 99 %"."""
    amount = 100 * round(value, 8)
    if 0 < amount < 1:
        return Markup("<bdi>&lt; {}</bdi>").format(percent(context, 1))
    if 99 < amount < 100:
        return Markup("<bdi>&gt; {}</bdi>").format(percent(context, 99))
    return Markup("{}").format(percent(context, round(amount)))


@pass_context
def probability(context: Context, value: float) -> Markup:
    """How probable something is, as a share. Nothing is certain: 1 as it is stored is shown as "> 99 %", too."""
    return share(context, min(max(value, 0.001), 0.999))


def _script_json(value: object) -> str:
    """The value as JSON that a script reads."""
    return exact_json.for_scripts(orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode())


def plain(value: object) -> str:
    """A JSON value as a text: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def parse_time(value: object) -> datetime | None:
    """A time of ours (datetime, or ISO 8601 where no zone means UTC), or None for anything else."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if not isinstance(value, datetime):
        return None
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value


LANGUAGE_COOKIE = "language"


def preferred_locale(incoming: Incoming) -> str:
    """What this browser prefers: its cookie, or the best of Accept-Language."""
    chosen = incoming.cookie(LANGUAGE_COOKIE)
    if chosen in NAMES:
        return chosen
    return best_language(incoming.header("accept-language"))


def locale_of(incoming: Incoming) -> str:
    """The language of an answer."""
    own = incoming.who.locale.replace("_", "-").partition("-")[0].lower() if incoming.who.signed_in else ""
    return own if own in NAMES else preferred_locale(incoming)


PIECE_SECONDS: Final = 0.001  # after which others come first


async def join_pieces(clock: IReactorTime, pieces: Iterable[str]) -> str:
    """Join the pieces into one text. After each millisecond of work, the reactor handles other events.

    Raises what ``pieces`` raises. ``clock`` has ``seconds`` and ``callLater``.
    """
    parts = []
    until = clock.seconds() + PIECE_SECONDS
    for piece in pieces:
        parts.append(piece)
        if clock.seconds() >= until:
            await deferLater(clock, 0)
            until = clock.seconds() + PIECE_SECONDS
    return "".join(parts)
