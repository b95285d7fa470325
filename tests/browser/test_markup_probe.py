"""What people write stays text: a canary in every text of the database, in every query and every form, on every page.

The pages are those of the route table, so a new one is visited by itself. The browser ignores our policy here: it is the
escaping that has to hold, and the policy is looked at for itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from email.message import Message
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import attrs
import pytest
from support.checks.markup_probe import ENUMERATED, LONG, MARK, SHORT, plant
from support.checks.page_reader import Page
from support.servers.every_page import HTML, Site, every_page

from crowdd.http.html import frames
from crowdd.http.html.static_files import StaticFiles

# make test looks at each template with hostile words (http/test_templates.py), and in a browser (test_accessibility.py).
pytestmark = [pytest.mark.browser, pytest.mark.proof]
PATIENCE = 600.0  # seconds: all pages in one test

FORMS_THAT_COME_BACK = {"anonymous": 2, "stranger": 3, "owner": 8, "admin": 8}
TYPED = ("text", "search", "email", "url", "password", "number", "")
REDISPLAYED = "redisplayed"
PACKAGE = Path(frames.__file__).parents[2]
# What runs, or would when somebody clicks: elements of the canary, handlers, addresses that are scripts.
_ALIVE = """([mark, html]) => { const document = html === null ? window.document : new DOMParser().parseFromString(html, 'text/html'); return [
    ...[...document.querySelectorAll(`[${mark}]`)].map(e => e.outerHTML.slice(0, 200)),
    ...[...document.querySelectorAll('*')].flatMap(e => e.getAttributeNames().filter(n => n.startsWith('on')).map(n => e.tagName + ' ' + n)),
    ...[...document.querySelectorAll('[href], [src], [action], [formaction], [srcdoc]')].flatMap(e => ['href', 'src', 'action', 'formaction', 'srcdoc']
        .filter(n => /^\\s*(javascript|data|vbscript):/i.test(e.getAttribute(n) || '') || (n == 'srcdoc' && e.hasAttribute(n))).map(n => e.tagName + ' ' + n)),
    ...[...document.querySelectorAll('img[src], script[src], link[href], iframe[src]')].map(e => e.src || e.href)
        .filter(a => new URL(a).origin != location.origin),
]; }"""
_SCRIPTS = re.compile(r'<script[^>]* src="([^"]+)"')
_FORMS = re.compile(r"<form\b.*?</form>", re.DOTALL)
_POSTED = re.compile(r'<form[^>]* method="post"')
_TYPED = re.compile(rf'<textarea|<input(?![^>]* type=)|<input[^>]* type="(?:{"|".join(TYPED)})"')
_CHANGES = re.compile(
    r'nonce="[^"]*"|name="csrf_token" value="[^"]*"|data-csrf="[^"]*"|Request [0-9a-f]{16}|[0-9a-f]{16}'
)


@attrs.frozen
class Planted:
    """A server of whose texts each is a canary, the columns that have one, and which pages were loaded."""

    site: Site
    planted: set[tuple[str, str]]
    loaded: set[object] = attrs.Factory(set)

    def is_new(self, *what: object) -> bool:
        """Whether nobody has loaded a page like this one: once for all who see the same."""
        before = len(self.loaded)
        self.loaded.add(what)
        return len(self.loaded) > before


@pytest.fixture(scope="module")
def planted(postgres: Any, tmp_path_factory: Any) -> Iterator[Planted]:
    """Rows of every kind, and the canary in every text of them."""
    columns = set[tuple[str, str]]()
    with every_page(postgres, tmp_path_factory.mktemp("canary"), lambda dsn: columns.update(plant(dsn))) as site:
        yield Planted(site, columns)


@attrs.frozen
class Form:
    """A form of a page, filled in."""

    action: str
    fields: dict[str, str]
    with_files: bool


def forms(text: str, path: str) -> Iterator[Form]:
    """The forms of a page into which somebody writes; what is chosen is the first there is, boxes are ticked."""
    if not any(_POSTED.search(form) and _TYPED.search(form) for form in _FORMS.findall(text)):
        return
    page = Page(text)
    for form in page.all("form"):
        inside = [it for it in page.elements if form in it.parents and it.get("name")]
        fields = {
            it.get("name"): it.get("value")
            for it in inside
            if it.tag in ("input", "button") and it.get("type") != "file"
        }
        for option in page.all("option"):
            around = next((it for it in option.parents if it.tag == "select" and it in inside), None)
            if around:
                fields.setdefault(around.get("name"), option.get("value"))
        typed = [it for it in inside if it.tag == "textarea" or (it.tag == "input" and it.get("type") in TYPED)]
        if form.get("method") == "post" and typed:
            fields |= {it.get("name"): f"again {LONG}" for it in typed}
            yield Form(form.get("action") or path, fields, "multipart" in form.get("enctype"))


@attrs.frozen
class Answer:
    """A page as it came."""

    status: int
    headers: Message
    text: str


class Visitor:
    """A browser of one of them, which ignores our policy, and what ran in it."""

    def __init__(self, browser: Any, site: Site, who: str) -> None:
        self.site, self.fired = site, []
        self.context = browser.new_context(bypass_csp=True)
        self.context.set_default_timeout(45_000)
        self.context.add_cookies(
            [{"name": name, "value": value, "url": site.url} for name, value in site.cookies[who].items()]
        )
        self.page = self.context.new_page()
        self.page.on("console", self._heard)
        self._html = ""
        self._connection = site.connection()
        self._cookies = self._now()

    def _now(self) -> str:
        return "; ".join(f"{each['name']}={each['value']}" for each in self.context.cookies())

    def _heard(self, message: Any) -> None:
        if message.text.startswith("canary") and message.text != "canary null":  # null: a presenter, in its frame
            self.fired.append(f"{message.text} on {self.page.url}")

    def _fulfil(self, route: Any) -> None:
        route.fulfill(body=self._html, content_type="text/html; charset=utf-8")

    def ask(self, path: str) -> Answer:
        """An answer without a browser: Playwright's own requests take four times as long."""
        self._connection.request("GET", path, headers=HTML | {"Cookie": self._cookies})
        response = self._connection.getresponse()
        return Answer(response.status, response.headers, response.read().decode("utf-8", "replace"))

    def send(self, form: Form) -> Any:
        """What comes after a form whose texts are all canaries."""
        body = {("multipart" if form.with_files else "form"): form.fields}
        headers = HTML | {"Origin": self.site.url}
        back = self.context.request.post(self.site.url + form.action, headers=headers, max_redirects=0, **body)
        self._cookies = self._now()
        return back

    def read(self, html: str) -> list[str]:
        """What would be alive on a page of this text; it is not loaded, which is much quicker."""
        if self.page.url == "about:blank":
            self.page.goto(self.site.url + "/static/img/mark.svg")
        return self._alive(html)

    def look(self, path: str) -> list[str]:
        """What is alive on the page of that address that should be text."""
        self.page.goto(self.site.url + path, wait_until="domcontentloaded")  # our scripts have run by then
        return self._alive()

    def show(self, html: str) -> list[str]:
        """The same of a page that came as the answer to a form."""
        self._html = html
        self.page.route(f"**/{REDISPLAYED}", self._fulfil)  # only as long as it is needed: nothing is cached meanwhile
        alive = self.look(f"/{REDISPLAYED}")
        self.page.unroute(f"**/{REDISPLAYED}")
        return alive

    def close(self) -> None:
        self.context.close()
        self._connection.close()

    def _alive(self, html: str | None = None) -> list[str]:
        alive: list[str] = self.page.evaluate(_ALIVE, [MARK, html])
        alive += self.fired
        self.fired.clear()
        return alive


@pytest.fixture
def visitor(browser: Any, planted: Planted) -> Iterator[Any]:
    made = []

    def make(who: str) -> Visitor:
        made.append(Visitor(browser, planted.site, who))
        return made[-1]

    yield make
    for each in made:
        each.close()


EARLY = StaticFiles.read().source(*frames.EARLY_SCRIPTS)
"""The script that a page around a presenter has in itself, as a policy names it."""


def strict(policy: str, path: str = "") -> bool:
    """Whether scripts run by nonce or folder, and in the page by itself only ours. Only a project's card may be framed."""
    framed_by = "*" if path.endswith("/embed") else "'none'"
    rules = dict(rule.split(maxsplit=1) for rule in policy.split("; "))
    scripts = rules.get("script-src", rules["default-src"])
    return (
        re.fullmatch(r"'nonce-[\w-]{16}'|'none'|[\w.:-]+/static/", scripts.removesuffix(f" {EARLY}")) is not None
        and rules["frame-ancestors"] == framed_by
        and rules["base-uri"] == rules["default-src"] == "'none'"
    )


def query_names() -> list[str]:
    """Every name that some handler of pages looks up in the query."""
    names: set[str] = {"_", "q", "lang"}
    for file in PACKAGE.rglob("*pages.py"):
        names |= set(re.findall(r"query(?:\.get\(|\[)\s*\"(\w+)\"", file.read_text()))
    return sorted(names)


def test_owners_scripts_run_in_their_frame_and_nowhere_else(planted: Planted, visitor: Any) -> None:
    """The same canary in a presenter does run: in an origin of its own. First: what is sent later replaces it."""
    browser = visitor("anonymous")
    [path] = [path for _, path in planted.site.addresses if path.endswith("/tutorial")][:1]
    with browser.page.expect_console_message(lambda message: message.text == "canary null"):
        browser.look(path)
    assert browser.fired == []


def test_every_text_of_the_database_was_planted(planted: Planted) -> None:
    """Only a table without a row on this stage may be missing; what cannot be planted has its reason."""
    with_rows = {table for table, _ in planted.planted}
    assert {
        "account",
        "announcement",
        "audit",
        "blogpost",
        "category",
        "delivery_attempt",
        "event",
        "helpingmaterial",
    } <= with_rows
    assert {"job_run", "mail", "project", "queue_item", "result", "session", "task", "task_run", "webhook"} <= with_rows
    assert not [table for table, columns in ENUMERATED.items() if not columns]


def in_main(text: str) -> str:
    """What is inside ``main``, without what is different at each asking: the frame around it is the same everywhere."""
    return _CHANGES.sub("", text.partition("<main")[2].partition("</main>")[0])


@pytest.mark.parametrize("each_route", [False, True], ids=["scripts", "routes"])
def test_what_people_wrote_runs_on_no_page_and_on_no_form_that_comes_back(
    planted: Planted, visitor: Any, each_route: bool
) -> None:
    """All of them in one test: they share the site, and what one of them was shown is not looked at again.

    Every page is read; our scripts run on one page of those that have the same ones, or on one of each route.
    """
    planted.loaded.clear()
    for who, minimum in FORMS_THAT_COME_BACK.items():
        browser = visitor(who)
        live_forms = pages_are_dead(planted, browser, each_route)
        forms_are_dead(planted, browser, live_forms, minimum)


def pages_are_dead(planted: Planted, browser: Visitor, each_route: bool) -> list[Form]:
    """Each page, as it is and with a query; the forms that are on them, each once."""
    pages_with_canaries, unique_forms, alive = 0, {}, {}
    for route, path, answer in answers(planted, browser):
        text = answer.text
        if answer.status == 200 and "?" not in path:
            for form in forms(text, path):
                unique_forms.setdefault((form.action, tuple(form.fields)), form)
        if MARK not in text or not planted.is_new(in_main(text)):
            continue
        pages_with_canaries += 1
        wrong = browser.read(text)
        # What our scripts make of a query is the same on each page that has them.
        if planted.is_new("?" if "?" in path else each_route and route, *_SCRIPTS.findall(text)):
            wrong += browser.look(path)
        if wrong:
            alive[path] = wrong
    assert alive == {}
    assert pages_with_canaries > 5
    return [*unique_forms.values()]


def answers(planted: Planted, browser: Visitor) -> Iterator[tuple[str, str, Answer]]:
    """Routes, addresses and pages. What is a file is not asked for again, as files may be dear to make."""
    asked = urlencode(dict.fromkeys(query_names(), LONG))
    for route, address in planted.site.addresses:
        for path in (address, f"{address}?{asked}"):
            if ("file", address) in planted.loaded:
                continue
            answer = browser.ask(path)
            assert answer.status != 500, path
            if not answer.headers.get("content-type", "").startswith("text/html"):
                if answer.status == 200:  # not where somebody is sent elsewhere
                    planted.is_new("file", address)
                continue
            assert strict(answer.headers["content-security-policy"], address), path
            yield route, path, answer


def forms_are_dead(planted: Planted, browser: Visitor, found: list[Form], minimum: int) -> None:
    """What comes after each form; at minimum so many have to come back with what was written."""
    alive, came_back = {}, set()
    for form in found:
        back = browser.send(form)
        assert back.status != 500, form
        if MARK not in back.text():
            continue
        came_back.add(form.action)
        wrong = browser.read(back.text())
        if planted.is_new("form", form.action):
            wrong += browser.show(back.text())
        if wrong:
            alive[form.action] = wrong
    assert alive == {}
    assert len(came_back) >= minimum, came_back


def test_the_canary_would_run(visitor: Any) -> None:
    browser = visitor("anonymous")
    for opening in ("<p>", '<p title="', "<p title='", "<textarea>", "<title>", "<script>'", "<!-- "):
        page = f"<!doctype html><meta charset=utf-8><main>{opening}{LONG}"
        assert browser.read(page), opening
        assert browser.show(page), opening
    link = "<!doctype html><main><a href=javascript:canary>x</a><img src=https://elsewhere.example/x.png>"
    assert {"A href", "https://elsewhere.example/x.png"} <= {*browser.show(link)}  # what ran before may be heard late
    assert MARK in SHORT and browser.show(f'<!doctype html><main><a href="{SHORT}/">x</a>')
