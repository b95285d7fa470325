"""A web server of the tests with documents by path, which counts what is asked."""

from __future__ import annotations

import http.server
import threading
from collections import Counter
from collections.abc import Callable

import orjson


class Documents:
    """Serves ``pages``: bytes, or something for JSON, by path; 404 for others. ``asked`` counts requests by path.

    ``before`` is called with each path, in the thread of the request.
    """

    def __init__(self) -> None:
        self.pages: dict[str, object] = {}
        self.asked: Counter[str] = Counter()
        self.before: Callable[[str], object] = lambda _path: None
        source = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                source.asked[self.path] += 1
                source.before(self.path)
                page = source.pages.get(self.path)
                self.send_response(404 if page is None else 200)
                self.end_headers()
                self.wfile.write(page if isinstance(page, bytes) else orjson.dumps(page))

            def log_message(self, *_: object) -> None: ...

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        """Stops."""
        self._server.shutdown()
        self._server.server_close()
