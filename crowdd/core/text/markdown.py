"""Render Markdown as HTML that is safe on our pages, including the HTML inside it.

HTML inside a text is cut down to allowed elements and closed where its block ends. An HTML parser would repeat elements
that were left open in every paragraph that follows, with all their attributes: a few kB of text could become hundreds
of MB.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Final

import attrs
import nh3
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markupsafe import Markup

from crowdd.core.text import markdown_limits
from crowdd.core.text.markdown_limits import TimeBudget
from crowdd.core.text.picture_addresses import is_upload

MAX_DEPTH: Final = 100
_VOID: Final = frozenset({"br", "hr", "img"})
_ENDS_BY_ITSELF: Final = frozenset({"p", "li", "tr", "td", "th", "thead", "tbody"})
_PIECE: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|<[?!].*?(?:>|\Z)"
    r"|<(?P<end>/?)(?P<name>[A-Za-z][A-Za-z0-9-]*)"
    r"(?P<attributes>(?:\s+[^\s\"'=<>/`]+(?:\s*=\s*(?:\"[^\"]{0,2000}\"|'[^']{0,2000}'|[^\s\"'=<>`]{1,2000}))?){0,20})"
    r"\s*/?>|<",
    re.DOTALL,
)


class RawHtml:
    """The HTML of one block or paragraph, given part by part."""

    def __init__(self, names: AbstractSet[str], with_attributes: AbstractSet[str]) -> None:
        self._names, self._with_attributes = names, with_attributes
        self._open: list[str] = []

    def whole(self, html: str) -> str:
        """A block, closed."""
        return self.part(html) + self.end()

    def part(self, html: str) -> str:
        """A part of it; elements may stay open until ``end``."""
        return _PIECE.sub(self._piece, html)

    def end(self) -> str:
        """What closes the elements that are still open."""
        return "".join(f"</{self._open.pop()}>" for _ in range(len(self._open)))

    def _piece(self, piece: re.Match[str]) -> str:
        if piece[0] == "<":
            return "&lt;"
        name = (piece["name"] or "").lower()
        if name not in self._names:
            return ""
        if piece["end"]:
            return self._close(name)
        return self._begin(name, piece["attributes"] if name in self._with_attributes else "")

    def _begin(self, name: str, attributes: str) -> str:
        if name not in _VOID | _ENDS_BY_ITSELF:
            if len(self._open) == MAX_DEPTH:
                return ""
            self._open.append(name)
        return f"<{name}{attributes}>"

    def _close(self, name: str) -> str:
        if name in _ENDS_BY_ITSELF:
            return f"</{name}>"
        closed = ""
        while name in self._open:
            last = self._open.pop()
            closed += f"</{last}>"
            if last == name:
                break
        return closed


VERSION: Final = 3
"""To be raised with every change of what a text becomes, the rule for pictures included: HTML is then created again."""
EXCERPT: Final = 300
_TAGS: Final = {
    "p", "br", "hr", "em", "strong", "del", "s", "sub", "sup", "code", "pre", "blockquote", "ul", "ol", "li", "a",
    "img", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip
_SCHEMES: Final = (
    "http",
    "https",
    "data",
    "blob",
    "file",
    "ftp",
    "cid",
    "javascript",
)  # of pictures that somebody may try
_ATTRIBUTES: Final[Mapping[str, set[str]]] = {
    "a": {"href", "title"},
    "img": {"src", "alt", "title"},
    "ol": {"start"},
    "th": {"align"},
    "td": {"align"},
}


def _lower_headings(state: StateCore) -> None:
    """A text has its place below the page's own first and second headings, and skips no level."""
    open_levels: list[int] = []
    for token in state.tokens:
        if token.type == "heading_open":
            level = int(token.tag[1])
            open_levels = [each for each in open_levels if each < level] + [level]
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, len(open_levels) + state.env['top'] - 1)}"


def _only_own_pictures(tag: str, attribute: str, value: str) -> str | None:
    """Pictures are uploads of this server. Another one would learn who reads, and other addresses of ours may act."""
    if tag == "img" and attribute == "src" and not is_upload(value):
        return None
    return value


# As nh3 writes it: every value in double quotes, and none of those inside.
_IMAGE: Final = re.compile(r'<img((?: [a-z]+="[^"]*")*)>')


def _tidy_html(state: StateCore) -> None:
    """HTML in a text ends with the paragraph or block that it stands in, and has known elements only."""
    for token in state.tokens:
        if token.type == "html_block":
            token.content = _raw().whole(token.content)
        elif token.type == "inline":
            _tidy_inline(token.children or [])


def _tidy_inline(children: list[Token]) -> None:
    raw = _raw()
    for child in children:
        if child.type == "html_inline":
            child.content = raw.part(child.content)
    if end := raw.end():
        children.append(Token("html_inline", "", 0, content=end))


def _raw() -> RawHtml:
    return RawHtml(_TAGS | {"script", "style"}, frozenset(_ATTRIBUTES))


_markdown = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
_markdown.core.ruler.push("lower_headings", _lower_headings)
_markdown.core.ruler.push("tidy_html", _tidy_html)
markdown_limits.watch(_markdown)


@attrs.frozen
class Rendered:
    """A text as HTML, and its first words without marks."""

    html: Markup
    excerpt: str


def render(text: str, top: int) -> Rendered:
    """A text of somebody as HTML, within the limits of ``markdown_limits``; to be called in a thread.

    Raises InvalidValueError that says which limit is exceeded, and by how much.
    """
    markdown_limits.require_small(text)
    made = _html(text, top, TimeBudget(markdown_limits.MAX_SECONDS))
    markdown_limits.require_short_html(made)
    return Rendered(made, _excerpt(made))


def render_plain(text: str) -> Rendered:
    """A text that exceeds the limits, from before there were any: its beginning as it was typed."""
    shown = text[: markdown_limits.MAX_CHARACTERS // 2]
    return Rendered(Markup("<pre>{}</pre>").format(shown), _excerpt(html.escape(shown[: 2 * EXCERPT])))


def _excerpt(made: str) -> str:
    """The first words of HTML in which < and > are nothing but the ends of tags, which separate words."""
    return " ".join(html.unescape(re.sub(r"<[^<>]*+>", " ", made)).split())[:EXCERPT]


def to_html(text: str, top: int = 3) -> Markup:
    """Markdown as HTML with a short list of tags; no script, style, id or picture of another server survives.

    ``top`` is the level of its highest headings. For our own texts: what others write goes through ``render``.
    """
    return _html(text, top, TimeBudget(None))


def list_omitted_pictures(text: str) -> list[str]:
    """The addresses of those pictures of a text that are not shown, each once; to be called in a thread.

    Raises InvalidValueError for a text beyond the limits.
    """
    markdown_limits.require_small(text)
    addresses: dict[str, None] = {}

    def look(tag: str, attribute: str, value: str) -> str:
        if not is_upload(value):
            addresses.setdefault(value)
        return value

    made = _marked_up(text, 3, TimeBudget(markdown_limits.MAX_SECONDS))
    nh3.clean(made, tags={"img"}, attributes={"img": {"src"}}, attribute_filter=look, url_schemes=set(_SCHEMES))
    return list(addresses)


def _marked_up(text: str, top: int, budget: TimeBudget) -> str:
    """The HTML of a text as it was written, with whatever it holds."""
    env = {"top": top, "budget": budget}
    tokens = _markdown.parse(text, env)
    if budget.limited:
        markdown_limits.require_few_tokens(tokens)
    return str(_markdown.renderer.render(tokens, _markdown.options, env))


def _html(text: str, top: int, budget: TimeBudget) -> Markup:
    clean = nh3.clean(
        _marked_up(text, top, budget),
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
