"""A request as handlers see it."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from io import BytesIO
from typing import IO, Any, BinaryIO, Final
from urllib.parse import parse_qsl

import orjson
from multipart import MultipartError, MultipartParser, MultipartPart, parse_options_header

from crowdd.core.uploads import Upload
from crowdd.http.edge import headers, json_arrays
from crowdd.http.edge.headers import cookies, prefers_json, values_of
from crowdd.http.edge.server_request import Request
from crowdd.http.html import frames
from crowdd.kernel import exact_json
from crowdd.kernel.errors import DisconnectedError, InvalidValueError, TooLargeError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kinds.types import clean_text, require_object

MAX_FIELDS = 1000
MAX_PARSED_AT_ONCE: Final = 262_144
"""Bytes of a body that anybody may have parsed: some milliseconds. Also of forms and their parts kept in memory."""
_MAX_LOOKED_AT = 1_000
_JSON_NUMBER = re.compile(rb'\s*+:\s*+"?([0-9]{1,18})')
_FIELD_NUMBER = re.compile(rb"[^\n]*+\n(?:[^\r\n][^\n]*+\n)*+\r?+\n\s*+([0-9]{1,18})")
_MAX_TEXT = 10_000_000  # bytes of one field of a multipart form, which is read whole; what is longer comes as a file
_ON = frozenset({"true", "yes", "on", "y", "1"})
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_NOBODY = Requester()  # until it is known who asks


class Incoming:
    """Method, address, headers, cookies, query and body; ``who`` asks, and ``route`` is where it goes.

    Texts that are no UTF-8 come with surrogates in them, which every type refuses.
    """

    def __init__(self, request: Request, address: str) -> None:
        self.request = request
        self.address = address  # the raw one; only ``identity`` and ``limits`` look at it
        self.method: str = request.method.decode("ascii", "replace")
        self.path: str = _text(request.path)
        self.is_api = self.path == "/api" or self.path.startswith("/api/")
        self.changes_state = self.method not in SAFE_METHODS  # the method may do so
        self.who = _NOBODY
        self._headers = request.header_texts()
        self.query = _query(request.uri)  # of a name that stands twice the last counts
        self.content_type = _bare(self._headers.get("content-type"))  # without parameters
        self.request_id = ""
        self.by_cookie = False  # the requester is known by their session cookie
        self.key_name = ""  # of the API key or token that the requester is known by; no secret
        self.wrong_key = False  # there was one, and it is nobody's
        self.cookies_to_set: list[bytes] = []
        # The cookies of the request by their full names.
        lines = values_of(request.requestHeaders, b"Cookie")
        self._cookies = dict(cookies(b"; ".join(lines))) if lines else {}
        self.cookie_prefix: str = getattr(request, "cookie_prefix", "")
        self.nonce = ""
        self.csrf_mark = ""  # stands for the token of forms on a page that is made for many visitors

    @cached_property
    def is_frame(self) -> bool:
        """Whether a presenter's document is asked for: it comes without cookies and gets none."""
        return frames.wants_frame(self.path, frames.MARK in self.query, self.header("sec-fetch-dest").lower())

    def header(self, name: str) -> str:
        """The value of a header, "" when absent; ``name`` is in lower case."""
        return self._headers.get(name, "")

    @property
    def headers(self) -> Mapping[str, str]:
        """The last value of each header by its name in lower case."""
        return self._headers

    def cookie(self, name: str) -> str:
        """The value of a cookie, "" when absent."""
        return headers.find_cookie(self.cookie_prefix, name, self._cookies) or ""

    def has_no_cookies_but(self, names: frozenset[str]) -> bool:
        """Whether the browser sends no cookies except these."""
        return all(name.removeprefix(self.cookie_prefix) in names for name in self._cookies)

    def has_old_cookie(self, name: str) -> bool:
        """Whether the browser has a cookie only under the name that it had before the site had prefixes."""
        return headers.is_old_cookie(self.cookie_prefix, name, self._cookies)

    def keep_cookie(self, name: str, value: str) -> None:
        """Reads the cookie as this from now on: it is set by the answer to this request."""
        self._cookies[self.cookie_prefix + name] = value

    def all_of(self, name: str) -> list[str]:
        """Every value that a name of the query string has: those of boxes that were ticked."""
        _, _, text = self.request.uri.partition(b"?")
        pairs = parse_qsl(text.decode("ascii", "replace"), errors="surrogateescape")
        return [value for key, value in pairs if key == name]

    @property
    def _content(self) -> IO[bytes]:
        content = self.request.content
        if content is None or content.closed:
            raise DisconnectedError("The client has disconnected.")
        return content

    @contextlib.contextmanager
    def body_file(self) -> Iterator[tuple[IO[bytes], int]]:
        """The body as a file of its own, and its length: it stays open when the client goes and Twisted closes its own.

        Raises DisconnectedError as ``raw_body`` does.
        """
        content, length = self._content, self.body_length
        with BytesIO(content.getvalue()) if isinstance(content, BytesIO) else _another(content) as file:
            yield file, length

    @cached_property
    def body_length(self) -> int:
        """Bytes of the body. Raises DisconnectedError as ``raw_body`` does."""
        content = self._content
        content.seek(0, 2)
        return int(content.tell())

    @cached_property
    def raw_body(self) -> bytes:
        """The body. Raises DisconnectedError when the client went while its request waited: Twisted drops it then."""
        content = self._content
        content.seek(0)
        return bytes(content.read())

    def json_body(self) -> Any:
        """The body as JSON, whatever its type says. Raises InvalidValueError."""
        try:
            return self._large_array if self.is_large_array else exact_json.loads(self.raw_body)
        except orjson.JSONDecodeError as error:
            raise InvalidValueError(
                _("The body is not JSON: %(reason)s.", reason=exact_json.reason(error)), code="bad_json"
            ) from None

    @cached_property
    def _large_array(self) -> list[object]:
        return json_arrays.parse(self.raw_body)

    @property
    def is_large_array(self) -> bool:
        """Whether the body is a JSON array that takes a while to be parsed."""
        return self.is_api and self.is_large and self._begins_array

    @property
    def is_large(self) -> bool:
        """Whether the body may take long to parse."""
        return self.changes_state and self.body_length > MAX_PARSED_AT_ONCE

    def numbers_after(self, name: str) -> list[int]:
        """Whole numbers that the body has under a name, each once: as fields of a form, or in JSON at whatever depth.

        Without parsing it: of the first ``_MAX_LOOKED_AT`` places with that name.
        """
        body, in_form = self.raw_body, self.content_type == "multipart/form-data"
        key, match = (f'name="{name}"', _FIELD_NUMBER.match) if in_form else (f'"{name}"', _JSON_NUMBER.match)
        numbers: dict[int, None] = {}
        at = -1
        for _nth in range(_MAX_LOOKED_AT):
            at = body.find(key.encode(), at + 1)
            if at < 0:
                break
            if number := match(body, at + len(key), at + len(key) + 200):
                numbers[int(number[1])] = None
        return list(numbers)

    @property
    def brings_much(self) -> bool:
        """Whether the body is large, or an array for the API."""
        if not self.changes_state:
            return False
        return self.is_large or (self.is_api and self._begins_array)

    @property
    def _begins_array(self) -> bool:
        return self.raw_body[:100].lstrip()[:1] == b"["

    @cached_property
    def form(self) -> dict[str, Any]:
        """The fields of a posted form: URL-encoded, multipart, or a JSON object."""
        if self.content_type == "application/json":
            if self._begins_array:
                return require_object([])  # refused alike, and before it costs anything
            return require_object(self.json_body() if self.raw_body else {})
        if self.content_type == "multipart/form-data":
            return self._multipart()
        return self._url_encoded()

    def _url_encoded(self) -> dict[str, str]:
        text = self.raw_body.decode("utf-8", "surrogateescape")
        try:
            return dict(parse_qsl(text, keep_blank_values=True, errors="surrogateescape", max_num_fields=MAX_FIELDS))
        except ValueError:
            raise InvalidValueError(_("A form has at most %(maximum)s fields.", maximum=MAX_FIELDS)) from None

    def all_sent(self, name: str) -> list[str]:
        """Every value that a name of a posted form has: those of boxes that were ticked, or of a JSON array."""
        value = self.form.get(name)
        if isinstance(value, list):
            return [str(one) for one in value]
        if self.content_type != "application/x-www-form-urlencoded":
            return [] if value is None else [str(value)]
        pairs = parse_qsl(self.raw_body.decode("utf-8", "surrogateescape"), errors="surrogateescape")
        return [one for key, one in pairs if key == name]

    @property
    def takes_long_to_parse(self) -> bool:
        """Whether ``parse`` should be called in a thread before the handler asks for the body."""
        if self.content_type == "multipart/form-data":
            return self.is_large
        return self.is_large_array

    def parse(self) -> None:
        """Takes a multipart body apart, its files to the disk, or parses a large JSON array; may be called in a thread.

        Raises InvalidValueError, TooLargeError.
        """
        if self.content_type == "multipart/form-data":
            _parts = self._parts
        else:
            self.json_body()

    def _multipart(self) -> dict[str, str]:
        fields = [part for part in self._parts if not part.filename]
        if any(part.size > _MAX_TEXT for part in fields):
            raise TooLargeError(_("A field may have at most %(maximum)s bytes. Send a file.", maximum=f"{_MAX_TEXT:,}"))
        return {part.name: part.raw.decode("utf-8", "surrogateescape") for part in fields}

    @cached_property
    def _parts(self) -> list[MultipartPart]:
        _type, options = parse_options_header(self.header("content-type"))
        limits = {
            "memory_limit": 2**31,
            "disk_limit": 2**40,
            "partsize_limit": 2**40,
            "spool_limit": MAX_PARSED_AT_ONCE,
        }
        length, stream = self.body_length, self._content
        stream.seek(0)
        try:
            return list(MultipartParser(stream, options.get("boundary", ""), length, strict=False, **limits))
        except (MultipartError, ValueError, LookupError) as error:
            raise InvalidValueError(
                _("The multipart body is broken: %(reason)s.", reason=str(error)), code="bad_multipart"
            ) from None

    def upload(self, name: str) -> Upload | None:
        """The file of that name in a multipart body, or None."""
        file_part = next((part for part in self._parts if part.name == name and part.filename is not None), None)
        return None if file_part is None else Upload(str(file_part.filename), file_part.raw)

    def file(self, *names: str) -> tuple[str, BinaryIO] | None:
        """The first file of these names in a multipart body, open, and what it is called; None without one."""
        if self.content_type != "multipart/form-data":
            return None
        file_part = next((p for p in self._parts if p.name in names and p.filename), None)
        return None if file_part is None else (str(file_part.filename), file_part.file)

    def files(self, name: str) -> list[tuple[str, IO[bytes], int]]:
        """All files of that name in a multipart body: what each is called, open, and its bytes."""
        if self.content_type != "multipart/form-data":
            return []
        return [(str(p.filename), p.file, p.size) for p in self._parts if p.name == name and p.filename]

    def field(self, name: str) -> str:
        """A field of the form as text, "" when it is absent or null."""
        value = self.form.get(name)
        if isinstance(value, bool) or value is None:
            return "true" if value else ""
        if not isinstance(value, str | int | float):
            raise InvalidValueError(_("%(name)s must be a string.", name=name))
        try:
            return clean_text(str(value))
        except InvalidValueError as error:
            raise InvalidValueError(f"{name} {error}.") from None

    def text(self, name: str, stored: str | None) -> str:
        """A field of the form, or what is stored where the form does not have it."""
        return self.field(name) if name in self.form else stored or ""

    def flag(self, name: str, stored: bool) -> bool:
        """A box of the form. One that is missing is off in a form of a page, and as stored in JSON."""
        if name in self.form:
            return self.field(name).strip().lower() in _ON
        return stored if self.content_type == "application/json" else False

    @property
    def is_prefetch(self) -> bool:
        """Whether a browser asks ahead of its person, who may never open the page."""
        return "prefetch" in (self.header("sec-purpose") or self.header("purpose"))

    @cached_property
    def wants_json(self) -> bool:
        """Whether the answer is to be JSON: by Content-Type, by Accept, or by response_format=json."""
        if self.content_type == "application/json" or self.query.get("response_format") == "json":
            return True
        return prefers_json(self.header("accept"))


def _another(content: IO[bytes]) -> IO[bytes]:
    return os.fdopen(os.dup(content.fileno()), "rb")


def _query(uri: bytes) -> dict[str, str]:
    _, _, text = uri.partition(b"?")
    if not text:
        return {}
    return dict(parse_qsl(text.decode("ascii", "replace"), keep_blank_values=True, errors="surrogateescape"))


def _bare(content_type: str | None) -> str:
    return content_type.partition(";")[0].strip().lower() if content_type else ""


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")
