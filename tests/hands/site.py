"""The site on which the media of tasks are: every browser may keep them, and any of them can be gone for a while."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from hands.asked import LOST, file


class Site:
    """Serves files of ``hands.asked``; those below LOST only once they are among the ``loaded`` ones."""

    def __init__(self) -> None:
        self.loaded: set[str] = set()
        ours = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                path = urlsplit(self.path).path.lstrip("/")
                lost = path.startswith(LOST)
                content = None if lost and path not in ours.loaded else file(path)
                kind, body = content or ("text/plain", b"gone")
                self.send_response(200 if content else 404)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Access-Control-Allow-Origin", "*")
                self.send_header("Cache-Control", "max-age=3600" if content and not lost else "no-store")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Ends it."""
        self._server.shutdown()
        self._server.server_close()
