"""Pages as people read them: tables by their captions, charts by their labels, and lists over all their pages."""

from __future__ import annotations

import html
import re
from collections import defaultdict
from typing import Any
from urllib.parse import urljoin

import attrs

from support.checks.page_reader import Element, Page
from support.figures.lively_site import Site

Row = dict[str, str]


def words(text: str) -> str:
    """A text with single spaces."""
    return " ".join(text.split())


def number(text: str) -> int | None:
    """A whole number as a page writes it, None for a dash."""
    digits = re.sub(r"[,\s]", "", text)
    return int(digits) if digits.lstrip("-").isdigit() else None


@attrs.frozen
class Chart:
    """The bars of a chart: the heights that are drawn, the figures that they are named with, and the table behind them."""

    heights: list[float]
    named: list[tuple[str, str]]
    table: list[list[str]]


class _Spaced(Page):
    """A page in which the texts of neighbours are different words."""

    def handle_data(self, data: str) -> None:
        super().handle_data(f"{data} ")


class Reading:
    """A page that was read once."""

    def __init__(self, text: str) -> None:
        self.page = _Spaced(text.replace("\xa0", " "))
        self._inside: dict[int, list[Element]] = defaultdict(list)
        for element in self.page.elements:
            if element.parents:
                self._inside[id(element.parents[-1])].append(element)

    def cells(self, caption: str) -> list[list[str]]:
        """The rows of a table without its heading; [] if there is no such table."""
        tables = [table for table in self.page.all("table") if caption in self._texts(table, "caption")]
        rows = [row for table in tables[:1] for body in self._of(table, "tbody") for row in self._of(body, "tr")]
        return [[words(cell.text) for cell in self._of(row, "th", "td")] for row in rows]

    def rows(self, caption: str) -> list[Row]:
        """The same by the headings of the columns."""
        table = next((table for table in self.page.all("table") if caption in self._texts(table, "caption")), None)
        if table is None:
            return []
        [head] = [row for part in self._of(table, "thead") for row in self._of(part, "tr")]
        names = self._texts(head, "th")
        return [dict(zip(names, row, strict=True)) for row in self.cells(caption)]

    def chart(self, label: str) -> Chart:
        """A chart of bars, and the table of the same name."""
        [drawing] = [svg for svg in self.page.all("svg") if svg.get("aria-label") == label]
        bars = [bar for bar in self._of(drawing, "rect") if bar.get("class").startswith("bar")]
        titles = [words(title.text).rsplit(": ", 1) for bar in bars for title in self._of(bar, "title")]
        return Chart([float(bar.get("height")) for bar in bars], [(a, b) for a, b in titles], self.cells(label))

    def drawn(self, label: str, tag: str) -> list[Element]:
        """The shapes of a drawing."""
        return [shape for svg in self.page.all("svg") if svg.get("aria-label") == label for shape in self._of(svg, tag)]

    def shares(self, caption: str) -> list[float]:
        """How wide the bars in the rows of a table are, out of 100."""
        tables = [table for table in self.page.all("table") if caption in self._texts(table, "caption")]
        bars = [bar for bar in self.page.all("rect") if bar.get("class") == "bar"]
        return [float(bar.get("width")) for bar in bars if any(up is table for up in bar.parents for table in tables)]

    def items(self, label: str = "", id_: str = "") -> list[str]:
        """The lines of the lists in a section with this label, or whose heading has this id."""
        for section in self.page.all("section"):
            if (label and section.get("aria-label") == label) or (id_ and section.get("aria-labelledby") == id_):
                lists = [one for one in self.page.all("ul", "ol") if any(up is section for up in one.parents)]
                return [words(item.text) for one in lists for item in self._of(one, "li")]
        return []

    @property
    def words(self) -> str:
        """All words of the page."""
        [body] = self.page.all("main")
        return words(body.text)

    @property
    def next(self) -> str | None:
        """The address of the next page, from the path of this one."""
        links = [link for link in self.page.all("a") if link.get("rel") == "next"]
        return html.unescape(links[0].get("href")) if links else None

    def _of(self, element: Element, *tags: str) -> list[Element]:
        return [inner for inner in self._inside[id(element)] if inner.tag in tags]

    def _texts(self, element: Element, tag: str) -> list[str]:
        return [words(one.text) for one in self._of(element, tag)]


async def read(site: Site, path: str, who: Any = None) -> Reading:
    """A page as people get it."""
    return Reading(await site.html(path, who))


async def over_pages(site: Site, path: str, who: Any = None, maximum: int = 50) -> list[Reading]:
    """A list from its first page to its last one, by the links of its pages."""
    pages, address = [], path
    while len(pages) < maximum:
        pages.append(await read(site, address, who))
        if pages[-1].next is None:
            return pages
        address = urljoin(address, pages[-1].next)
    raise AssertionError(f"{path} has more than {maximum} pages")


async def json_over_pages(site: Site, path: str, key: str, who: Any = None, named: str = "before") -> list[Any]:
    """The rows of a list over all pages, by ``next`` of each page."""
    rows, address = [], path
    for _ in range(50):
        page = await site.json(address, who)
        rows += page[key]
        if page["next"] is None:
            return rows
        address = f"{path}{'&' if '?' in path else '?'}{named}={page['next']}"
    raise AssertionError(f"{path} does not end")
