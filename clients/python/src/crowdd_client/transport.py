"""Requests to one server: the key, retries, and errors as exceptions."""

from __future__ import annotations

import contextlib
import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx

from crowdd_client.errors import ApiError, ConnectionLostError, ForbiddenError, api_error
from crowdd_client.retries import BUSY, Retries, Waiting
from crowdd_client.values import exact_number
from crowdd_client.version import __version__

TIMEOUT = httpx.Timeout(120.0, connect=5.0)
"""Seconds without any byte. A server may take a while for an array of thousands of tasks."""
_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout)
_FIRST_SECONDS = 5.0  # for the first connection: an address that nobody answers is wrong
_HIDDEN = (401, 403, 404)  # what a visitor may be told of what somebody with a key sees
_OF_KEYS = "/api/token"  # 200 or 403 with a valid key, 401 without one
_log = logging.getLogger("crowdd_client")

Query = Mapping[str, object]


class Transport:
    """Sends requests with a key, and again where that may help. ``wait`` is called with seconds."""

    def __init__(
        self, site: str, key: str, retries: Retries, http: httpx.Client | None, wait: Callable[[float], None]
    ) -> None:
        address = urlsplit(site)
        if address.scheme not in ("http", "https") or not address.netloc:
            raise ValueError(f"The address of the server must begin with http:// or https:// (got {site!r}).")
        self.site, self._retries, self._wait = site.rstrip("/"), retries, wait
        self._http = http or httpx.Client(timeout=TIMEOUT)
        self._reached, self._unproven = False, bool(key)
        self._headers = {"Accept": "application/json", "User-Agent": f"crowdd-client/{__version__}"}
        if key:
            self._headers["Authorization"] = key

    def close(self) -> None:
        """Closes its connections."""
        self._http.close()

    def json(self, method: str, path: str, query: Query | None = None, body: object = None, key: str = "") -> Any:
        """The JSON of a response, None for an empty one. ``key``: an Idempotency-Key, which makes a POST repeatable."""
        content = None if body is None else json.dumps(body, allow_nan=False).encode()
        return self.send(method, path, query, content, key)

    def send(
        self, method: str, path: str, query: Query | None = None, content: bytes | None = None, key: str = ""
    ) -> Any:
        """The same for a body that is JSON already."""
        headers = {"Content-Type": "application/json"}
        if key:
            headers["Idempotency-Key"] = key
        with self._opened(method, path, query, content, headers, method != "POST" or bool(key)) as response:
            text = response.text
        if not text:
            return None
        try:
            return json.loads(text, parse_float=exact_number)
        except ValueError:
            message = f"{self.site}{path} did not return JSON. Is this the address of a crowdd server?"
            raise ApiError(message, response.status_code) from None

    @contextlib.contextmanager
    def stream(self, path: str, query: Query) -> Iterator[Iterator[bytes]]:
        """The bytes of a file while they arrive. Raises ConnectionLostError when the connection breaks meanwhile."""
        with self._opened("GET", path, query, None, {}, repeatable=True, whole=False) as response:
            yield self._bytes(response)

    def _bytes(self, response: httpx.Response) -> Iterator[bytes]:
        try:
            yield from response.iter_bytes()
        except httpx.TransportError as error:
            raise ConnectionLostError(f"The connection to {self.site} broke: {_words(error)}.") from error

    @contextlib.contextmanager
    def _opened(
        self,
        method: str,
        path: str,
        query: Query | None,
        content: bytes | None,
        headers: Mapping[str, str],
        repeatable: bool,
        whole: bool = True,
    ) -> Iterator[httpx.Response]:
        """A good response; ``whole``: with its body read."""
        waiting = Waiting(self._retries)
        request = self._http.build_request(
            method, self.site + path, params=_texts(query), content=content, headers={**self._headers, **headers}
        )
        while True:
            response = self._tried(request, waiting, repeatable, whole)
            if response is not None:
                break
        try:
            self._prove(method)
            yield response
        finally:
            response.close()

    def _prove(self, method: str) -> None:
        """Raises ForbiddenError for a key that the server does not know: it reads with it as without one."""
        if not self._unproven or method != "GET":
            return
        self._unproven = False
        try:
            self.send("GET", _OF_KEYS)
        except ForbiddenError as error:
            if error.status == httpx.codes.UNAUTHORIZED:
                self._unproven = True
                raise ForbiddenError(f"{self.site} does not know this key.", error.status) from None
        except ApiError:
            return  # it says nothing of the key

    def _tried(self, request: httpx.Request, waiting: Waiting, repeatable: bool, whole: bool) -> httpx.Response | None:
        """The response to one attempt; None when the request is to be sent again, which has been waited for."""
        try:
            response = self._http.send(request, stream=True)
            if whole or not response.is_success:
                response.read()
        except httpx.UnsupportedProtocol:
            raise
        except httpx.TransportError as error:
            sent = not isinstance(error, _NEVER_SENT)
            delay = None if sent and not repeatable else waiting.after_loss()
            if delay is not None and not sent and not self._reached:
                late = waiting.waited > _FIRST_SECONDS or isinstance(error, httpx.ConnectTimeout)
                delay = None if late else delay
            if delay is None:
                raise ConnectionLostError(f"{self.site} could not be reached: {_words(error)}.") from error
            self.pause(delay, f"the request is sent again: {_words(error)}")
            return None
        self._reached = True
        if response.is_success:
            return response
        delay = None
        if response.status_code in BUSY and (repeatable or response.status_code == httpx.codes.TOO_MANY_REQUESTS):
            delay = waiting.after_status(response.status_code, response.headers.get("retry-after"))
        if delay is None:
            if response.status_code in _HIDDEN:
                self._prove(request.method)
            raise _refusal(response)
        self.pause(delay, f"the request is sent again: status {response.status_code}")
        return None

    def pause(self, delay: float, why: str) -> None:
        """Waits, and says why."""
        _log.info("waiting %.1f s (%s)", delay, why)
        self._wait(delay)


def sleep(seconds: float) -> None:
    """What waits unless somebody says otherwise."""
    time.sleep(seconds)


def _refusal(response: httpx.Response) -> ApiError:
    if response.is_redirect:
        target = response.headers.get("location", "")
        message = f"The server redirects to {target}. Use the address that it redirects to, or check the key."
        return ApiError(message, response.status_code)
    return api_error(
        response.status_code, response.reason_phrase, response.text, response.headers.get("x-request-id", "")
    )


def _texts(query: Query | None) -> dict[str, str]:
    """Values of a query as the server reads them: true and false in small letters, lists as JSON."""
    texts = {}
    for name, value in (query or {}).items():
        if value is not None:
            texts[name] = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return texts


def _words(error: httpx.TransportError) -> str:
    return str(error) or type(error).__name__
