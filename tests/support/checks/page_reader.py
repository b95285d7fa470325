"""Reads a page as a browser's parser meets it and lists what is wrong with it."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import pairwise

import attrs

from crowdd.http.html import frames
from crowdd.http.html.static_files import StaticFiles

VOID = {
    "area", "base", "br", "circle", "col", "ellipse", "embed", "hr", "img", "input", "link", "meta", "path",
    "source", "track", "wbr",
}  # fmt: skip
BLOCKS = {
    "article", "aside", "details", "div", "dl", "fieldset", "form", "h1", "h2", "h3", "h4", "h5", "h6", "nav", "ol",
    "p", "section", "table", "ul",
}  # fmt: skip
REFERENCES = {"aria-labelledby", "aria-describedby", "aria-controls", "for", "form"}
ADDRESSES = {"src", "href", "action", "srcset", "poster", "formaction"}
TARGETS = {"href", "data-copy", "data-open"}


@attrs.define
class Element:
    """A start tag, where it stands and the text inside it."""

    tag: str
    attributes: dict[str, str]
    parents: tuple[Element, ...] = attrs.field(repr=False)
    _texts: list[str] = attrs.field(repr=False, eq=False)
    _first: int
    last: int

    @property
    def text(self) -> str:
        """The text inside it."""
        return "".join(self._texts[self._first : self.last])

    def get(self, name: str) -> str:
        """The attribute's value, or nothing."""
        return self.attributes.get(name, "")

    def inside(self, tag: str) -> bool:
        """Whether some element around it is a ``tag``."""
        return any(parent.tag == tag for parent in self.parents)


# Tags that were read, by how they are written: pages have the same ones.
_STARTS: dict[str, tuple[str, dict[str, str]]] = {}
_MAX_STARTS = 20_000


class Page(HTMLParser):
    """The elements of a page in order, and tags that do not match."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[Element] = []
        self.broken: list[str] = []
        self._open: list[Element] = []
        self._texts: list[str] = []  # of the page in order; an element has those from its start to its end
        self.feed(text)
        self.close()
        for element in self._open:
            element.last = len(self._texts)
        self.broken += [f"<{element.tag}> is not closed" for element in self._open]

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Keeps the element; twice the same attribute is a mistake."""
        named = {name: value or "" for name, value in attributes}
        if len(named) < len(attributes):
            counted = Counter(name for name, _ in attributes)
            self.broken += [f"<{tag}> has {name} twice" for name, count in counted.items() if count > 1]
        self._add(tag, named)

    def _add(self, tag: str, named: dict[str, str]) -> None:
        element = Element(tag, named, tuple(self._open), self._texts, len(self._texts), len(self._texts))
        if tag in BLOCKS and element.inside("p"):
            self.broken.append(f"<{tag}> inside <p>")
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def parse_starttag(self, i: int) -> int:
        """Reads a tag that is written like an earlier one only once: its attributes are most of what reading takes."""
        end = self.check_for_whole_start_tag(i)
        written = self.rawdata[i:end]
        if end > 0 and written in _STARTS:
            self._add(*_STARTS[written])
            return end
        before = len(self.broken), len(self.elements)
        end = super().parse_starttag(i)
        whole = (len(self.broken), len(self.elements) - 1) == before and not written.endswith("/>")
        if whole and self.cdata_elem is None and len(_STARTS) < _MAX_STARTS:
            _STARTS[written] = self.elements[-1].tag, self.elements[-1].attributes
        return end

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Only void elements and drawings close themselves."""
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        """The element that was opened last has to be the one that closes."""
        if self._open and self._open[-1].tag == tag:
            self._open.pop().last = len(self._texts)
        else:
            self.broken.append(f"</{tag}> closes nothing")

    def handle_data(self, data: str) -> None:
        """Text belongs to each element around it."""
        self._texts.append(data)

    def updatepos(self, i: int, j: int) -> int:
        """Nobody asks in which line something is."""
        return j

    def all(self, *tags: str) -> Iterator[Element]:
        """The elements with one of these tags."""
        return (element for element in self.elements if element.tag in tags)

    def ids(self) -> list[str]:
        """All ids, also repeated ones."""
        return [element.get("id") for element in self.elements if "id" in element.attributes]


def faults(page: Page, policy: str = "'nonce-'") -> list[str]:
    """Everything that no page may have, in words; an empty list for a good page.

    ``policy`` is the page's Content-Security-Policy. In a page that many get alike scripts have no nonce: its policy
    names their folder (``frames.shared_page_headers``).
    """
    return [
        *page.broken, *_code_in_the_page(page, "'nonce-" in policy), *_foreign_addresses(page), *_bad_forms(page), *_bad_names(page),
        *_nameless(page), *_frame(page),
    ]  # fmt: skip


@functools.cache
def inlined() -> frozenset[str]:
    """The script and the style sheet that a page around a presenter has in itself: its policy names them by their hash."""
    files = StaticFiles.read()
    return frozenset(files.text(*paths) for paths in (frames.EARLY_SCRIPTS, frames.EARLY_SHEETS))


def _code_in_the_page(page: Page, nonce: bool) -> Iterator[str]:
    for element in page.elements:
        if element.tag in ("script", "style") and not element.attributes and element.text in inlined():
            continue
        yield from (
            f"<{element.tag} {name}>" for name in element.attributes if name.startswith("on") or name == "style"
        )
        if element.tag in ("style", "base", "iframe", "object", "embed"):
            yield f"<{element.tag}>"
        if element.tag == "script" and (element.text.strip() or not element.get("src")):
            yield "a script that is not a file"
        if element.tag == "script" and bool(element.get("nonce")) != nonce:
            yield "a script without the nonce" if nonce else "a nonce that many know"


def _foreign_addresses(page: Page) -> Iterator[str]:
    for element in page.elements:
        for name in ADDRESSES & element.attributes.keys():
            address = element.get(name)
            inside = not address or (address.startswith(("#", "/")) and not address.startswith(("//", "/\\")))
            written = element.tag == "a" and "nofollow" in element.get("rel") and address.startswith("https://")
            if not inside and not written:
                yield f"{element.tag} {name}={address}"


def _bad_forms(page: Page) -> Iterator[str]:
    for form in page.all("form"):
        tokens = [
            field.get("value") for field in page.all("input")
            if form in field.parents and field.get("name") == "csrf_token"
        ]  # fmt: skip
        wanted = {1} if form.get("method") == "post" else {0}
        if form.get("action") == "/preferences":  # pages that many get alike have no token (record 46)
            wanted = {0, 1}
        if len(tokens) not in wanted or not all(tokens):
            yield f"form {form.attributes} has {len(tokens)} tokens"


def _bad_names(page: Page) -> Iterator[str]:
    ids = Counter(page.ids())
    yield from (f"id {name!r} twice or empty" for name, count in ids.items() if count > 1 or not name)
    for element in page.elements:
        for attribute in REFERENCES & element.attributes.keys():
            yield from (f"{attribute}={name}" for name in element.get(attribute).split() if name not in ids)
        for attribute in TARGETS & element.attributes.keys():
            target = element.get(attribute)
            if target.startswith("#") and len(target) > 1 and target[1:] not in ids and "page/" not in target:
                yield f"{attribute}={target}"


def _nameless(page: Page) -> Iterator[str]:
    named = {label.get("for") for label in page.all("label")}
    for field in page.all("input", "select", "textarea"):
        known = (
            field.get("id") in named or field.inside("label") or field.get("aria-label") or field.get("aria-labelledby")
        )
        if field.get("type") != "hidden" and not known:
            yield f"field {field.get('name')} has no label"
    yield from (f"picture {image.get('src')} has no alt" for image in page.all("img") if "alt" not in image.attributes)
    for control in page.all("a", "button", "summary"):
        if not control.text.strip() and not control.get("aria-label") and not control.inside("template"):
            yield f"<{control.tag}> without a word: {control.attributes}"
    for drawing in page.all("svg", "progress"):
        if not drawing.get("aria-hidden") and not drawing.get("aria-label") and not drawing.inside("template"):
            yield f"<{drawing.tag}> neither named nor hidden"


def _frame(page: Page) -> Iterator[str]:
    html = next(page.all("html"))
    if not html.get("lang") or html.get("dir") not in ("ltr", "rtl"):
        yield "no language or direction"
    if len(list(page.all("h1"))) != 1 or len(list(page.all("main"))) != 1:
        yield "not one h1 and one main"
    if not next(page.all("title")).text.strip():
        yield "no title"
    levels = [int(heading.tag[1]) for heading in page.all("h1", "h2", "h3", "h4")]
    yield from (f"h{low} after h{high}" for high, low in pairwise(levels) if low > high + 1)
