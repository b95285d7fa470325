"""Feeds, for programs that read what is new: Atom (RFC 4287) and JSON Feed 1.1 (jsonfeed.org)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from xml.etree.ElementTree import Element, SubElement, tostring

import attrs
import orjson

from crowdd.http.responses import BytesResponse
from crowdd.kernel.values import Json

ATOM, JSON_FEED = "application/atom+xml", "application/feed+json"
_ATOM: Final = "http://www.w3.org/2005/Atom"
_HEADERS: Final = {"Cache-Control": "public, max-age=60", "Access-Control-Allow-Origin": "*"}
# Characters that XML 1.0 (2.2) has no way to write.
_UNWRITABLE: Final = dict.fromkeys([*(set(range(32)) - {9, 10, 13}), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF])


@attrs.frozen
class Entry:
    """Something new. ``address`` is its page and its id, ``html`` what it says; links in it begin at ``Feed.site``."""

    address: str
    title: str
    html: str
    published: datetime
    updated: datetime


@attrs.frozen
class Feed:
    """The newest entries of a page; ``address`` is that of the feed without its ending."""

    title: str
    page: str
    address: str
    site: str
    entries: Sequence[Entry]
    language: str = ""

    def atom(self) -> BytesResponse:
        """The feed for readers of Atom. Without entries it was never changed, which is the epoch."""
        feed = Element("feed", {"xmlns": _ATOM, "xml:base": self.site})
        if self.language:
            feed.set("xml:lang", self.language)
        _text(feed, "title", self.title)
        _text(feed, "id", self.page)
        SubElement(feed, "link", {"rel": "alternate", "href": self.page})
        SubElement(feed, "link", {"rel": "self", "href": f"{self.address}.atom"})
        _text(feed, "updated", _time(max((entry.updated for entry in self.entries), default=datetime(1970, 1, 1))))
        SubElement(SubElement(feed, "author"), "name").text = self.title.translate(_UNWRITABLE)
        for entry in self.entries:
            here = SubElement(feed, "entry")
            _text(here, "title", entry.title)
            _text(here, "id", entry.address)
            SubElement(here, "link", {"rel": "alternate", "href": entry.address})
            _text(here, "published", _time(entry.published))
            _text(here, "updated", _time(entry.updated))
            _text(here, "content", entry.html).set("type", "html")
        document = tostring(feed, encoding="utf-8", xml_declaration=True)
        return BytesResponse(document, f"{ATOM}; charset=utf-8", headers=_HEADERS)

    def json(self) -> BytesResponse:
        """The same as JSON Feed."""
        items: list[Json] = [
            {
                "id": entry.address,
                "url": entry.address,
                "title": entry.title,
                "content_html": entry.html,
                "date_published": _time(entry.published),
                "date_modified": _time(entry.updated),
            }
            for entry in self.entries
        ]
        value: dict[str, Json] = {
            "version": "https://jsonfeed.org/version/1.1",
            "title": self.title,
            "home_page_url": self.page,
            "feed_url": f"{self.address}.json",
            "items": items,
        }
        if self.language:
            value["language"] = self.language
        return BytesResponse(orjson.dumps(value), JSON_FEED, headers=_HEADERS)


def _text(parent: Element, name: str, text: str) -> Element:
    made = SubElement(parent, name)
    made.text = text.translate(_UNWRITABLE)
    return made


def _time(moment: datetime) -> str:
    """As RFC 3339; moments without a zone are UTC."""
    return f"{moment.replace(tzinfo=None).isoformat(timespec='seconds')}Z"
