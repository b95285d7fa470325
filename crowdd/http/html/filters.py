"""Filters of the templates that make words of values: numbers, sizes, times and shares in the language of the page."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from datetime import date as date_type
from functools import partial
from typing import Final

import orjson
from babel import Locale
from babel.dates import format_date, format_skeleton, format_timedelta
from babel.numbers import format_compact_decimal, format_decimal
from babel.units import format_unit
from jinja2 import Environment, pass_context
from jinja2.runtime import Context
from markupsafe import Markup

from crowdd.http.html.answer_words import alone, answer_keys, asked_keys, in_words, lines_of, marks_of
from crowdd.kernel.languages import NAMES, Languages
from crowdd.kinds.answer_files import files_of

NO_BREAK: Final = "\N{NO-BREAK SPACE}"
UNKNOWN: Final = "–"
"""What stands for a figure that the reader may not see or that is not known."""
_LOCALES: Final[Mapping[str, Locale]] = {
    code: Locale.parse("en_GB" if code == "en" else code) for code in NAMES
}  # English dates and numbers are those of no country in particular
_UNITS: Final = ((60, 1), (3600, 60), (86400, 3600), (30 * 86400, 86400))  # up to how many seconds, seconds in the unit


_IN_HOURS: Final = 100 * 60  # seconds from which hours say enough
_NUMBERS: Final = (100, 11, 3, 0, 2, 1)  # among them one of each plural category of every language


class Words:
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
        environment.filters |= {"size": size, "duration": duration}
        environment.filters |= {
            "for_number": for_number,
            "date": date,
            "day": day,
            "month": month,
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
            "files_of": files_of,
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
def markdown(context: Context, text: str, top: int = 3) -> Markup:
    """A text of somebody as HTML: laid out before, and in the page's private context as ``prose``."""
    return context["prose"][text, top].html if text else Markup()


@pass_context
def excerpt(context: Context, text: str, top: int = 3, length: int = 200) -> str:
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
def month(context: Context, value: date_type) -> str:
    """The month of a day as "Nov 2024"."""
    return format_skeleton("yMMM", value, locale=_locale(context))


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


@pass_context
def duration(context: Context, seconds: float) -> str:
    """How long something took: "40 seconds", "12 minutes", "3.4 hours"."""
    unit, length = next((each for each in (("minute", 60), ("second", 1)) if each[1] <= seconds), ("second", 1))
    if seconds >= _IN_HOURS:
        unit, length = "hour", 3600
    amount = round(seconds / length, 1 if unit == "hour" else 0)
    return format_unit(amount, f"duration-{unit}", length="long", locale=_locale(context))


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
