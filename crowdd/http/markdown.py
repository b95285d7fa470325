"""What people write in Markdown, as HTML that is safe on our pages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import nh3
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markupsafe import Markup

from crowdd.domain.pictures import is_upload

_TAGS: Final = {
    "p", "br", "hr", "em", "strong", "del", "s", "sub", "sup", "code", "pre", "blockquote", "ul", "ol", "li", "a",
    "img", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip
_ATTRIBUTES: Final[Mapping[str, set[str]]] = {
    "a": {"href", "title"},
    "img": {"src", "alt", "title"},
    "ol": {"start"},
    "th": {"align"},
    "td": {"align"},
}


def _lower_headings(state: StateCore) -> None:
    """A text has its place below the page's own first and second headings."""
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + state.env['top'] - 1)}"


def _only_own_pictures(tag: str, attribute: str, value: str) -> str | None:
    """Pictures are uploads of this server. Another one would learn who reads, and other addresses of ours may act."""
    if tag == "img" and attribute == "src" and not is_upload(value):
        return None
    return value


# As nh3 writes it: every value in double quotes, and none of those inside.
_IMAGE: Final = re.compile(r'<img((?: [a-z]+="[^"]*")*)>')

_markdown = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
_markdown.core.ruler.push("lower_headings", _lower_headings)


def to_html(text: str, top: int = 3) -> Markup:
    """Markdown as HTML with a short list of tags; no script, style, id or picture of another server survives.

    ``top`` is the level of its highest headings.
    """
    clean = nh3.clean(
        _markdown.render(text, {"top": top}),
        tags=_TAGS | {f"h{top}"},
        attributes={tag: set(names) for tag, names in _ATTRIBUTES.items()},
        attribute_filter=_only_own_pictures,
        url_schemes={"http", "https", "mailto"},
        link_rel="nofollow noopener noreferrer ugc",
    )
    return Markup(_IMAGE.sub(_settle, clean))  # noqa: S704 - nh3 has just cleaned it


def _settle(image: re.Match[str]) -> str:
    """A picture that lost its address goes; one without words for those who do not see it is decoration."""
    if ' src="' not in image[0]:
        return ""
    return image[0] if ' alt="' in image[0] else f'<img alt=""{image[1]}>'
