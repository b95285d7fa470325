"""A repository with the REST API of Zenodo, as developers.zenodo.org describes it, for tests: a real HTTP server.

Depositions (create, list, get, describe, publish) need a token in the Authorization header. Files are put into the
bucket of a deposition. A published one cannot be changed. Errors are objects with ``status``, ``message`` and, for
metadata, ``errors``.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

TOKEN = "a-token-that-nobody-may-read"
_NEEDED = ("title", "upload_type", "description", "creators")
_API = "/api/deposit/depositions"


class FakeRepository:
    """``refuse(method, path)`` gives a status to be answered instead, or None. ``requests`` are (method, path)."""

    def __init__(self, refuse: Callable[[str, str], int | None] = lambda method, path: None) -> None:
        self.refuse = refuse
        self.requests: list[tuple[str, str]] = []
        self.headers: list[dict[str, str]] = []
        self.depositions: dict[int, dict[str, Any]] = {}
        self.files: dict[str, dict[str, bytes]] = {}
        self.bucket_site = ""  # where buckets are, if elsewhere
        self.alter: Callable[[Any], Any] = lambda answer: answer  # what is answered instead
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                fake._serve(self)

            do_POST = do_PUT = do_GET

            def log_message(self, *_: object) -> None:
                """Tests read ``requests``."""

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: object) -> None:
                """A client that is killed is no news."""

        self._server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        return f"http://{self.host}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def made(self, method: str, pattern: str) -> int:
        """How many requests with this method there were to a path that matches."""
        return sum(each == method and re.fullmatch(pattern, path) is not None for each, path in self.requests)

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        path = urlsplit(handler.path).path
        body = handler.rfile.read(int(handler.headers.get("content-length", 0)))
        self.requests.append((handler.command, path))
        self.headers.append({name.lower(): value for name, value in handler.headers.items()})
        status, answer = self._answer(handler, path, body)
        sent = json.dumps(self.alter(answer)).encode()
        handler.send_response(status)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(sent)))
        handler.end_headers()
        handler.wfile.write(sent)

    def _answer(self, handler: BaseHTTPRequestHandler, path: str, body: bytes) -> tuple[int, Any]:
        refused = self.refuse(handler.command, path)
        if refused is not None:
            return _error(refused, f"Refused {handler.headers.get('authorization')}")
        if handler.headers.get("authorization") != f"Bearer {TOKEN}":
            return _error(401, "The server could not verify that you are authorized to access the URL requested.")
        match = re.fullmatch(rf"{_API}(?:/(\d+))?(/actions/publish)?", path)
        if match is None:
            bucket = re.fullmatch(r"/api/files/(b\d+)/([^/]+)", path)
            return self._put(bucket[1], unquote(bucket[2]), body) if bucket else _error(404, "Not found.")
        id_, action = int(match[1] or 0), match[2]
        if not id_ and handler.command == "GET":
            return 200, [self._shown(each) for each in sorted(self.depositions, reverse=True)]
        if not id_:
            return self._create(json.loads(body or b"{}"))
        if id_ not in self.depositions:
            return _error(404, "PID does not exist.")
        if action:
            return self._publish(id_)
        return self._describe(id_, json.loads(body)) if handler.command == "PUT" else (200, self._shown(id_))

    def _create(self, said: dict[str, Any]) -> tuple[int, Any]:
        id_ = len(self.depositions) + 1
        self.depositions[id_] = {"metadata": said.get("metadata", {}), "submitted": False}
        self.files[f"b{id_}"] = {}
        return 201, self._shown(id_)

    def _describe(self, id_: int, said: dict[str, Any]) -> tuple[int, Any]:
        metadata = said.get("metadata", {})
        missing = [name for name in _NEEDED if not metadata.get(name)]
        if missing:
            errors = [{"field": f"metadata.{name}", "message": "Missing data for required field."} for name in missing]
            return 400, {"status": 400, "message": "A validation error occurred.", "errors": errors}
        self.depositions[id_]["metadata"] = metadata
        return 200, self._shown(id_)

    def _put(self, bucket: str, name: str, content: bytes) -> tuple[int, Any]:
        if self.depositions[int(bucket[1:])]["submitted"]:
            return _error(403, "Bucket is locked for modifications.")
        self.files[bucket][name] = content
        return 201, {"key": name, "size": len(content), "checksum": f"md5:{hashlib.md5(content).hexdigest()}"}

    def _publish(self, id_: int) -> tuple[int, Any]:
        deposition = self.depositions[id_]
        if deposition["submitted"]:
            return _error(403, "The deposit is published.")
        if not self.files[f"b{id_}"]:
            return 400, {"status": 400, "message": "Validation error.", "errors": [{"field": "files", "message": "Minimum one file must be provided."}]}  # fmt: skip
        deposition["submitted"] = True
        return 202, self._shown(id_)

    def _shown(self, id_: int) -> dict[str, Any]:
        deposition, at = self.depositions[id_], f"{self.url}{_API}/{id_}"
        links = {"self": at, "html": f"{self.url}/deposit/{id_}", "publish": f"{at}/actions/publish"}
        links["bucket"] = f"{self.bucket_site or self.url}/api/files/b{id_}"
        published = {}
        if deposition["submitted"]:
            links["record_html"] = f"{self.url}/records/{id_}"
            published = {"doi": f"10.5072/zenodo.{id_}", "doi_url": f"https://doi.org/10.5072/zenodo.{id_}"}
        files = [
            {"id": name, "filename": name, "filesize": len(content), "checksum": hashlib.md5(content).hexdigest()}
            for name, content in self.files[f"b{id_}"].items()
        ]
        state = "done" if deposition["submitted"] else "unsubmitted"
        return {"id": id_, "state": state, "links": links, "files": files, **deposition, **published}


def _error(status: int, message: str) -> tuple[int, Any]:
    return status, {"status": status, "message": message}
