"""Listeners on the wire: one before the server that writes down what browsers ask, one that plays another site."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

import attrs

HEAD_END: Final = b"\r\n\r\n"

PLAYER: Final = """<script>var r = {origin: self.origin};
  try { localStorage.x = 1; r.storage = true } catch (e) { r.storage = e.name }
  try { document.cookie = "a=1"; r.cookie = document.cookie } catch (e) { r.cookie = e.name }
  parent.postMessage(r, "*")</script>"""


PICTURE: Final = b"""<svg xmlns="http://www.w3.org/2000/svg" width="600" height="400">
  <rect width="300" height="400" fill="#fff"/><rect x="300" width="300" height="400" fill="#159"/></svg>"""


@attrs.frozen
class Asked:
    """One request as it came over the wire; header names in lower case."""

    method: str
    path: str
    headers: dict[str, str]

    def header(self, name: str) -> str:
        return self.headers.get(name, "")


def parse_head(head: bytes) -> Asked:
    first, *rest = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    pairs = (line.partition(":") for line in rest)
    return Asked(method, path, {name.strip().lower(): value.strip() for name, _, value in pairs})


class Witness:
    """Passes everything on to ``(host, port)`` unchanged and keeps the heads of all requests in ``log``."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.log: list[Asked] = []
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._carry, args=(client,), daemon=True).start()

    def _carry(self, client: socket.socket) -> None:
        with suppress(OSError), client, socket.create_connection(self._target) as server:
            threading.Thread(target=self._back, args=(server, client), daemon=True).start()
            self._forth(client, server)

    def _back(self, server: socket.socket, client: socket.socket) -> None:
        with suppress(OSError):
            while data := server.recv(65536):
                client.sendall(data)
            client.shutdown(socket.SHUT_RDWR)

    def _forth(self, client: socket.socket, server: socket.socket) -> None:
        waiting = b""
        while True:
            while HEAD_END not in waiting:
                data = client.recv(65536)
                if not data:
                    return
                waiting += data
            head, _, waiting = waiting.partition(HEAD_END)
            asked = parse_head(head)
            self.log.append(asked)
            server.sendall(head + HEAD_END)
            waiting = self._body(client, server, waiting, int(asked.header("content-length") or 0))

    def _body(self, client: socket.socket, server: socket.socket, waiting: bytes, left: int) -> bytes:
        while left:
            data = waiting[:left] or client.recv(min(left, 65536))
            if not data:
                return b""
            server.sendall(data)
            waiting, left = waiting[len(data) :], left - len(data)
        return waiting


class Elsewhere:
    """Another site: a collector (``seen`` has every address asked for), at /player an embedded player.

    At /picture.svg it has a picture whose pixels no other site may read.
    """

    def __init__(self) -> None:
        self.seen: list[str] = []
        seen = self.seen

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                seen.append(self.path)
                self.send_response(200)
                if self.path == "/picture.svg":
                    self.send_header("Content-Type", "image/svg+xml")
                    self.end_headers()
                    self.wfile.write(PICTURE)
                    return
                self.send_header("Access-Control-Allow-Origin", "*")
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write((PLAYER if self.path == "/player" else "<p>outside</p>").encode())

            do_POST = do_GET

            def log_message(self, format: str, *args: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://localhost:{self._server.server_port}"  # another host name, so another site
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
