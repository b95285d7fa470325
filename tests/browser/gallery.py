"""Shows templates' pages in a browser as if a server had sent them."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import SplitResult, urlsplit

from playwright.sync_api import Error
from support.checks.page_contexts import Case

from crowdd.http.html.frames import page_headers
from crowdd.http.html.rendering import Templates
from crowdd.http.html.static_files import StaticFiles
from crowdd.http.web import FeatureWeb, add_functions
from crowdd.kernel.languages import Languages
from crowdd.sched.registry import declared_classes

FILES = StaticFiles.read()
TEMPLATES = Templates(
    FILES,
    now=lambda: datetime(2025, 11, 20, 21, 50, tzinfo=UTC),
    base_url="https://pages.crowdd.test",
    languages=Languages.read(),
)
add_functions(TEMPLATES, declared_classes(FeatureWeb, "web"))


class Server:
    """Sends the page that a gallery shows at every address but those of static files, which browsers may keep.

    What Playwright answers itself costs three times as much, and nothing is kept then.
    """

    def __init__(self) -> None:
        self.html, self.headers, self.posted = "", dict[str, str](), list[tuple[str, str]]()
        ours = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                body, type_, headers = ours.answer(urlsplit(self.path), self.headers)
                self.send_response(200)
                for name, value in {"Content-Type": type_, "Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
                ours.posted.append((urlsplit(self.path).path, body))
                self.do_GET()

            def log_message(self, *_: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def answer(self, address: SplitResult, asked: Message) -> tuple[bytes, str, dict[str, str]]:
        """Body, type and further headers."""
        file = FILES.lookup(address.path.removeprefix("/static/"))
        if asked["Sec-Fetch-Dest"] == "image":
            file = FILES.lookup("img/mark.svg")
        if file:
            return file.body, file.content_type, {"Cache-Control": "max-age=3600"}
        if asked["Accept"] == "text/event-stream":
            return b"", "text/event-stream", {}
        if "_presenter" in address.query:
            return b"", "text/html", {}
        return self.html.encode(), "text/html; charset=utf-8", self.headers


SERVER = Server()


_SWAP = """html => {
    const read = new DOMParser().parseFromString(html, "text/html"), root = document.documentElement;
    for (const name of root.getAttributeNames()) root.removeAttribute(name);
    for (const name of read.documentElement.getAttributeNames()) root.setAttribute(name, read.documentElement.getAttribute(name));
    document.title = read.title;
    document.body.replaceWith(document.adoptNode(read.body));
}"""


_EACH = """async pages => {
    const swap = SWAP, look = LOOK, found = [];
    for (const html of pages) { swap(html); found.push(await look()); }
    return found;
}""".replace("SWAP", _SWAP)
AT_ONCE = 40  # pages that are looked at without a word between the browser and us


class Gallery:
    """Shows a page under the headers that our pages have (``guarded``: with their policy), and writes down what goes wrong."""

    def __init__(self, page: Any, *, guarded: bool = True) -> None:
        self.page, self.wrong, self.posted = page, list[str](), list[tuple[str, str]]()
        self._guarded = guarded
        page.on("console", lambda message: message.type == "error" and self.wrong.append(message.text))
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("request", self._look)

    def show(self, case: Case) -> Any:
        """Opens the page; a picture that is missing here is not an error."""
        inlined = TEMPLATES.inlined if case.template == "project/presenter.html" else None
        SERVER.html = TEMPLATES.render(case.template, case.context)
        SERVER.headers = page_headers("n0nce", inlined=inlined) if self._guarded else {}
        SERVER.posted = self.posted
        address = f"{SERVER.url}{urlsplit(case.context['path']).path}"
        while not self._arrives(address):
            pass
        return self.page

    def _arrives(self, address: str) -> bool:
        """Whether the page is shown: the one before may send its reader elsewhere, or load itself again."""
        try:
            self.page.goto(address)
        except Error as error:
            if "interrupted by another navigation" in str(error):
                return False
            raise
        return True

    def swap(self, case: Case) -> Any:
        """Puts the page in the place of the one that is shown: fast, but no script of it runs."""
        self.page.evaluate(_SWAP, TEMPLATES.render(case.template, case.context))
        return self.page

    def each(self, cases: Iterable[Case], look: str) -> Iterator[tuple[Case, Any]]:
        """What a function of JavaScript returns on each page, swapped in; its pictures are not waited for."""
        left, each = iter(cases), _EACH.replace("LOOK", look)
        while some := [*itertools.islice(left, AT_ONCE)]:
            pages = [TEMPLATES.render(case.template, case.context) for case in some]
            yield from zip(some, self.page.evaluate(each, pages), strict=True)

    def _look(self, request: Any) -> None:
        if not request.url.startswith((SERVER.url, "data:", "blob:")):
            self.wrong.append(f"asked {request.url}")
