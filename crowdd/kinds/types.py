"""Types of attributes: what a JSON body or a query text may hold, and what PostgreSQL calls it.

``parse`` takes a decoded JSON value and gives the stored one; a value that the type can hold is coerced ("5" is an
integer). Everything else raises InvalidValueError with a sentence that starts where the attribute's name is put.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import attrs
import orjson

from crowdd.kernel import exact_json
from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values
from crowdd.kinds import names

MAX_JSON_DEPTH = 100
Schema = dict[str, Any]
"""JSON Schema."""
TIME_PREFIX = "time-prefix"  # name of a format in schemas: an ISO 8601 time or the beginning of one
_BOOK = 50_000
_NOT_IN_ADDRESSES = r"\s\x00-\x1f\x7f-\x9f/?#%&\\<>\"'"
_NOT_BLANK = r"[^\s\x1c-\x1f]"  # what strip() leaves: these four separators are blanks here, not in every dialect
_NUL = re.compile("\x00")
_SURROGATE = re.compile("[\ud800-\udfff]")
_TRUE, _FALSE = {"true", "yes", "on", "y", "1"}, {"false", "no", "off", "n", "0"}


def clean_text(value: str) -> str:
    """The text, refused when PostgreSQL could not store it."""
    if _NUL.search(value) or _SURROGATE.search(value):
        raise InvalidValueError("contains a NUL or a lone surrogate")
    return value


def clean_json(value: object, depth: int = 0) -> object:
    """The JSON value, refused when PostgreSQL could not store it or when it is nested too deep."""
    if depth > MAX_JSON_DEPTH:
        raise InvalidValueError(f"is nested deeper than {MAX_JSON_DEPTH} levels")
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidValueError("contains a number that is not finite")
    if isinstance(value, list):
        return [clean_json(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return clean_object(value, depth)
    return value


def clean_object(value: Mapping[str, object], depth: int = 0) -> Values:
    """The same of an object."""
    return {clean_text(key): clean_json(item, depth + 1) for key, item in value.items()}


def is_clean(value: object) -> bool:
    """Whether ``clean_json`` would certainly give the same value, as its text shows: quick for what is usual."""
    try:
        return is_clean_text(orjson.dumps(value))
    except TypeError:
        return False  # surrogates, whole numbers of more than 64 bits


def is_clean_text(text: bytes) -> bool:
    """The same of a value of which orjson has made this text."""
    nested = text.count(b"{") + text.count(b"[")
    return b"\\u0000" not in text and b"null" not in text and nested <= MAX_JSON_DEPTH  # NaN is null there, too


def require_object(value: object, place: str = "") -> Values:
    """Return a JSON object as it is. ``place``: its path in the body; "" for the body itself.

    Raises InvalidValueError for any other value.
    """
    if not isinstance(value, dict):
        words = _("`%(name)s` must be an object.", name=place) if place else _("The body is not a JSON object.")
        raise InvalidValueError(words)
    return value


def missing(name: str) -> InvalidValueError:
    """The error for a body without an attribute that it must have."""
    return InvalidValueError(_("`%(name)s` is missing.", name=name), code="missing_attribute")


@attrs.frozen
class Type:
    """What every type has: its name in PostgreSQL and its schema in OpenAPI 3.1."""

    sql: str = "text"

    def parse(self, value: object) -> object:
        """The value to store for a JSON value."""
        raise NotImplementedError

    def parse_at(self, value: object, place: str) -> Any:
        """The same. The sentence of an error begins with the place of the value in its body."""
        try:
            return self.parse(value)
        except InvalidValueError as error:
            raise InvalidValueError(f"`{place}` {error}.") from None

    def from_text(self, text: str) -> object:
        """The value to compare with for a text of a query string."""
        return self.parse(text)

    def schema(self) -> Schema:
        """JSON Schema of a value that is sent and returned."""
        return {}

    def text_schema(self) -> Schema:
        """JSON Schema of a text of a query string, read as OpenAPI reads parameters."""
        return self.schema()


@attrs.frozen
class Integer(Type):
    """A whole number; ``maximum`` is 2**31-1 for counts and 2**63-1 for ids."""

    sql: str = "bigint"
    minimum: int = -(2**63)
    maximum: int = 2**63 - 1

    def parse(self, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int | str | float):
            raise InvalidValueError("is not an integer")
        if isinstance(value, str) and not re.fullmatch(r"\s*[+-]?[0-9]{1,20}\s*", value):
            raise InvalidValueError("is not an integer")
        # An integer of JSON beyond 64 bits arrives as a float, rounded to one of the ends of the range at best.
        if isinstance(value, float) and not (value.is_integer() and abs(value) < 2**63):
            raise InvalidValueError("is not an integer")
        number = int(value)
        if not self.minimum <= number <= self.maximum:
            raise InvalidValueError(f"must be between {self.minimum} and {self.maximum} (got {number})")
        return number

    def from_text(self, text: str) -> int:
        return Integer().parse(text)  # one may ask for what no row can have

    def schema(self) -> Schema:
        return {"type": "integer", "format": "int64", "minimum": self.minimum, "maximum": self.maximum}

    def text_schema(self) -> Schema:
        return Integer().schema()


@attrs.frozen
class Number(Type):
    """A finite number."""

    sql: str = "double precision"
    minimum: float = -math.inf
    maximum: float = math.inf

    def parse(self, value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise InvalidValueError("is not a number")
        try:
            number = float(value)
        except (ValueError, OverflowError):
            raise InvalidValueError("is not a number") from None
        if not math.isfinite(number):
            raise InvalidValueError("is not a finite number")
        if not self.minimum <= number <= self.maximum:
            raise InvalidValueError(f"must be between {self.minimum:g} and {self.maximum:g} (got {number:g})")
        return number

    def schema(self) -> Schema:
        bounds = {"minimum": self.minimum, "maximum": self.maximum}
        return {"type": "number", **{name: bound for name, bound in bounds.items() if math.isfinite(bound)}}


@attrs.frozen
class Boolean(Type):
    """True or false; also the words that clients use for them."""

    sql: str = "boolean"

    def parse(self, value: object) -> bool:
        if isinstance(value, bool):
            return value
        word = str(value).strip().lower()
        if isinstance(value, int | str) and word in _TRUE | _FALSE:
            return word in _TRUE
        raise InvalidValueError("must be true or false")

    def schema(self) -> Schema:
        return {"type": "boolean"}


@attrs.frozen
class Text(Type):
    """A text of at most ``maximum`` characters; with ``minimum`` 1 an empty one is refused."""

    maximum: int = 10_000
    minimum: int = 0

    def parse(self, value: object) -> str:
        if not isinstance(value, str):
            raise InvalidValueError("is not a string")
        if len(value) > self.maximum:
            raise InvalidValueError(f"may have at most {self.maximum:,} characters (got {len(value):,})")
        if len(value.strip()) < self.minimum:
            raise InvalidValueError("must not be empty")
        return clean_text(value)

    def from_text(self, text: str) -> str:
        return clean_text(text)

    def schema(self) -> Schema:
        # A bound as long as a book is left out: programs that make examples of schemas give up on it.
        bound = {"maxLength": self.maximum} if self.maximum < _BOOK else {}
        return {"type": "string", **bound, **self._not_blank()}

    def text_schema(self) -> Schema:
        return {"type": "string"}

    def _not_blank(self) -> Schema:
        return {"minLength": self.minimum, "pattern": _NOT_BLANK} if self.minimum else {}


@attrs.frozen
class Name(Text):
    """A name that people read, on one line."""

    maximum: int = 255
    minimum: int = 1

    def parse(self, value: object) -> str:
        text = names.free(super().parse(value))
        return super().parse(text)  # composed, it may have become longer

    def schema(self) -> Schema:
        return {**super().schema(), "format": names.FREE_FORMAT}


@attrs.frozen
class ShortName(Text):
    """A name that stands in addresses."""

    maximum: int = 255
    minimum: int = 1

    def parse(self, value: object) -> str:
        text = super().parse(value).strip()
        if len(text) < self.minimum:
            raise InvalidValueError(f"must have at least {self.minimum} characters (got {len(text)})")
        if re.search(rf"[{_NOT_IN_ADDRESSES}]", text) or text in {".", ".."}:
            raise InvalidValueError("must not contain spaces, control characters or any of / ? # % & \\ < > \" '")
        return super().parse(names.in_address(text))

    def schema(self) -> Schema:
        pattern = rf"^(?!\.{{1,2}}$)[^{_NOT_IN_ADDRESSES}]+$"
        return {**super().schema(), "pattern": pattern, "format": names.ADDRESS_FORMAT}


@attrs.frozen
class Choice(Type):
    """One of some words."""

    choices: tuple[str, ...] = attrs.field(kw_only=True)

    def parse(self, value: object) -> str:
        if not isinstance(value, str) or value not in self.choices:
            raise InvalidValueError(f"must be one of {', '.join(filter(None, self.choices))}")
        return value

    def schema(self) -> Schema:
        return {"type": "string", "enum": list(self.choices)}


_NAME_OF_FILE = r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}"
UPLOAD_PATH = rf"/uploads/{_NAME_OF_FILE}/{_NAME_OF_FILE}"
PICTURE_ADDRESS = (
    rf"(?:https?://[A-Za-z0-9.:\[\]-]+)?{UPLOAD_PATH}|https://[A-Za-z0-9.-]+(?::[0-9]+)?(?:[/?#][!-\[\]-~]*)?"
)
"""An upload of this server or of another one, or any https address; ``crowdd.core.text.picture_addresses``
refuses what is ours.
"""


@attrs.frozen
class PictureAddress(Text):
    """The address of a picture or another file that a page shows; an empty text is none."""

    maximum: int = 2000

    def parse(self, value: object) -> str:
        text = super().parse(value)
        if text and not re.fullmatch(PICTURE_ADDRESS, text):
            raise InvalidValueError("must be /uploads/<container>/<name> or an https address on another site")
        return text

    def schema(self) -> Schema:
        return {**super().schema(), "pattern": rf"^(?:{PICTURE_ADDRESS})?$"}


@attrs.frozen
class Json(Type):
    """Any JSON value."""

    sql: str = "jsonb"

    def parse(self, value: object) -> object:
        return value if is_clean(value) else clean_json(value)

    def from_text(self, text: str) -> object:
        try:
            return clean_json(exact_json.loads(text))
        except orjson.JSONDecodeError:
            return clean_text(text)

    def text_schema(self) -> Schema:
        return {"type": "string"}


@attrs.frozen
class JsonObject(Json):
    """A JSON object."""

    def parse(self, value: object) -> Values:
        if not isinstance(value, dict):
            raise InvalidValueError("must be an object")
        return clean_object(value)

    def schema(self) -> Schema:
        return {"type": "object"}


@attrs.frozen
class Integers(Type):
    """A list of whole numbers."""

    sql: str = "bigint[]"

    def parse(self, value: object) -> list[int]:
        if not isinstance(value, list):
            raise InvalidValueError("is not a list of integers")
        return [Integer().parse(item) for item in value]

    def from_text(self, text: str) -> list[int]:
        return [Integer().parse(word) for word in re.findall(r"[+-]?[0-9]+", text)]

    def schema(self) -> Schema:
        return {"type": "array", "items": Integer().schema()}


@attrs.frozen
class Timestamp(Type):
    """A moment; leaves as ISO 8601 in UTC without zone, with microseconds."""

    sql: str = "timestamptz"

    def parse(self, value: object) -> datetime:
        try:
            moment = datetime.fromisoformat(value if isinstance(value, str) else "")
        except ValueError:
            raise InvalidValueError("is not an ISO 8601 time") from None
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)

    def from_text(self, text: str) -> tuple[datetime, datetime]:
        """The span [begin, end) that a prefix of a time names: a year, month, day … or one microsecond."""
        for form, after in _PREFIXES.items():
            try:
                begin = datetime.strptime(text.strip().replace(" ", "T"), form).replace(tzinfo=UTC)
                return begin, after(begin)
            except (ValueError, OverflowError):
                continue
        raise InvalidValueError("is not an ISO 8601 time or the beginning of one")

    def schema(self) -> Schema:
        return {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$"}

    def text_schema(self) -> Schema:
        return {"type": "string", "format": TIME_PREFIX}


def _plus(**length: int) -> Callable[[datetime], datetime]:
    return lambda begin: begin + timedelta(**length)


_PREFIXES: dict[str, Callable[[datetime], datetime]] = {
    "%Y": lambda begin: begin.replace(year=begin.year + 1),
    "%Y-%m": lambda begin: (begin + timedelta(days=31)).replace(day=1),
    "%Y-%m-%d": _plus(days=1),
    "%Y-%m-%dT%H": _plus(hours=1),
    "%Y-%m-%dT%H:%M": _plus(minutes=1),
    "%Y-%m-%dT%H:%M:%S": _plus(seconds=1),
    "%Y-%m-%dT%H:%M:%S.%f": _plus(microseconds=1),
}


def iso(moment: datetime) -> str:
    """The moment as it leaves: ISO 8601 in UTC without zone, always with microseconds (interface: format-times)."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds")
