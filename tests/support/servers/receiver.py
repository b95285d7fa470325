"""A receiver of webhooks: a real HTTP server in threads of its own, as well behaved as a test wants it."""

from __future__ import annotations

import contextlib
import json
import select
import socket
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import attrs

HANG, CLOSE = "hang", "close"


@attrs.frozen
class Request:
    """One request as it came. ``headers`` have their names in lower case."""

    path: str
    headers: dict[str, str]
    body: bytes
    at: float

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def seq(self) -> int | None:
        return self.json["sequence"]


Behaviour = Callable[[Request], Any]


class Receiver:
    """``behave(request)`` says what is answered: a status, (status, headers), HANG or CLOSE. Every request is kept in
    ``requests``, those that were answered with 2xx also in ``taken``; ``max_at_once`` were answered at the same time.
    """

    def __init__(self, behave: Behaviour = lambda request: 204) -> None:
        self.behave = behave
        self.requests: list[Request] = []
        self.taken: list[Request] = []
        self.at_once = self.max_at_once = 0
        self.gate = threading.Event()  # behaviours may wait for it; HANG does
        self._lock = threading.Lock()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                receiver._serve(self)

            def log_message(self, *_: object) -> None:
                """Tests read ``requests``."""

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 256

            def handle_error(self, *_: object) -> None:
                """A client that is killed is no news."""

        self._server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/hook"

    def close(self) -> None:
        self.gate.set()
        self._server.shutdown()
        self._server.server_close()

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        headers = {name.lower(): value for name, value in handler.headers.items()}
        body = handler.rfile.read(int(headers.get("content-length", 0)))
        request = Request(handler.path, headers, body, time.time())
        with self._lock:
            self.requests.append(request)
            self.at_once += 1
            self.max_at_once = max(self.max_at_once, self.at_once)
        try:
            self._answer(handler, request, self.behave(request))
        finally:
            with self._lock:
                self.at_once -= 1

    def _hang(self, connection: socket.socket) -> None:
        """Until the gate opens or the client goes."""
        while not self.gate.is_set() and not select.select([connection], [], [], 0.05)[0]:
            pass

    def _answer(self, handler: BaseHTTPRequestHandler, request: Request, answer: Any) -> None:
        handler.close_connection = True
        if answer == HANG:
            self._hang(handler.connection)
            return
        if answer == CLOSE:
            with contextlib.suppress(OSError):
                handler.connection.shutdown(socket.SHUT_RDWR)
            return
        status, headers = answer if isinstance(answer, tuple) else (answer, {})
        if 200 <= status < 300:
            with self._lock:
                self.taken.append(request)
        handler.send_response(status)
        for name, value in {"Content-Length": "0", **headers}.items():
            handler.send_header(name, value)
        handler.end_headers()
