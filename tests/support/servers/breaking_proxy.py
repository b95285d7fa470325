"""Stands between a client and a server, and breaks what passes as a test wants it."""

from __future__ import annotations

import contextlib
import http.client
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import attrs

PASS, LOSE_REQUEST, LOSE_RESPONSE, CUT = "pass", "lose request", "lose response", "cut"
"""The request is passed on; lost before the server has it; passed on, and its response lost; its response cut in half."""
_LEFT_OUT = {"host", "connection", "transfer-encoding", "content-length", "accept-encoding"}


@attrs.define
class BreakingProxy:
    """``url`` is the server's. ``plan`` says what becomes of the next requests, one each; PASS behind its end.

    A pair (status, Retry-After) is a response without a request to the server. ``seen`` are methods and paths, ``keys``
    the Idempotency-Keys of all requests.
    """

    target: str
    url: str = ""
    plan: list[object] = attrs.field(factory=list)
    seen: list[str] = attrs.field(factory=list)
    keys: list[str] = attrs.field(factory=list)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    proxy: BreakingProxy

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        proxy = self.proxy
        proxy.seen.append(f"{self.command} {self.path}")
        proxy.keys.append(self.headers.get("Idempotency-Key", ""))
        step = proxy.plan.pop(0) if proxy.plan else PASS
        if isinstance(step, tuple):
            self._answer(step[0], {"Retry-After": step[1]} if step[1] else {}, b'{"exception_msg": "Later."}')
            return
        if step == LOSE_REQUEST:
            self.close_connection = True
            return
        status, headers, content = self._passed_on(body)
        if step == LOSE_RESPONSE:
            self.close_connection = True
            return
        self._answer(status, headers, content, len(content) // 2 if step == CUT else None)

    def _passed_on(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection(self.proxy.target.removeprefix("http://"), timeout=60)
        headers = {name: text for name, text in self.headers.items() if name.lower() not in _LEFT_OUT}
        connection.request(self.command, self.path, body or None, headers)
        response = connection.getresponse()
        content = response.read()
        connection.close()
        return response.status, {n: t for n, t in response.getheaders() if n.lower() not in _LEFT_OUT}, content

    def _answer(self, status: int, headers: dict[str, str], content: bytes, sent: int | None = None) -> None:
        self.send_response(status)
        for name, text in headers.items():
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[:sent])
        if sent is not None:
            self.close_connection = True

    do_GET = do_POST = do_PUT = do_DELETE = _serve

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: a test says itself what went wrong."""


@contextlib.contextmanager
def breaking(target: str) -> Iterator[BreakingProxy]:
    """A proxy before the server at this address."""
    proxy = BreakingProxy(target)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"proxy": proxy}))
    server.daemon_threads = True
    proxy.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
