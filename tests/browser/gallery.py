"""Shows templates' pages in a browser as if a server had sent them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from support.checks.page_contexts import Case

from crowdd.http.html.presenter import page_headers
from crowdd.http.html.rendering import Templates
from crowdd.http.html.static_files import StaticFiles
from crowdd.languages import Languages

PLACE = "https://pages.crowdd.test"
FILES = StaticFiles.read()
TEMPLATES = Templates(
    FILES, now=lambda: datetime(2025, 11, 20, 21, 50, tzinfo=UTC), base_url=PLACE, languages=Languages.read()
)


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
        self.page, self.wrong, self.posted, self._html = page, [], [], ""
        self._headers = page_headers("n0nce") if guarded else {}
        page.on("console", lambda message: message.type == "error" and self.wrong.append(message.text))
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.route("**/*", self._answer)

    def show(self, case: Case) -> Any:
        """Opens the page; a picture that is missing here is not an error."""
        self._html = TEMPLATES.render(case.template, case.context)
        self.page.goto(f"{PLACE}{urlsplit(case.context['path']).path}")
        return self.page

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

    def _answer(self, route: Any) -> None:
        address = urlsplit(route.request.url)
        file = FILES.lookup(address.path.removeprefix("/static/"))
        if address.netloc != urlsplit(PLACE).netloc:
            self.wrong.append(f"asked {route.request.url}")
        if route.request.method == "POST":
            self.posted.append((address.path, route.request.post_data))
        if route.request.resource_type == "image":
            mark = FILES.lookup("img/mark.svg")
            route.fulfill(body=mark.body if mark else b"", content_type="image/svg+xml")
        elif route.request.resource_type == "eventsource":
            route.fulfill(body="", content_type="text/event-stream")
        elif "_presenter" in address.query:
            route.fulfill(body="", content_type="text/html")
        elif file:
            route.fulfill(body=file.body, content_type=file.content_type)
        else:
            route.fulfill(body=self._html, content_type="text/html", headers=self._headers)
