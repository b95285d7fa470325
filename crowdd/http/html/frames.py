"""The presenter frame: which of the three documents a request gets, under which headers, and what is refused.

A project's presenter (HTML and script of its owner) runs in a frame with an opaque origin. The page around it and the
frame share one path; the frame's address has the query name ``_presenter``. The page's script carries the frame's
requests to ``/api``, marked ``X-Presenter: <project id>``. Everything else that an opaque origin sends is refused here.
"""

from __future__ import annotations

import re
from typing import Final

import attrs

from crowdd.kinds.answer_files import AT

MARK: Final = "_presenter"
"""The query name that asks for the frame's document instead of the page."""

FRAMED: Final = re.compile(
    r"/project/[^/]+/(?:newtask|tutorial|results|task/\d+|review/\d+|tasks/taskpresentereditor)/?|/templates/[^/]+/?"
)
"""The paths that have a presenter, or show one; presenters read their own ``location.pathname``."""

SITE_STYLE: Final = "/site.css"
"""The style sheet with the colours of the site, which presenters' frames load, too."""

SITE_MAP: Final = "/site.pmtiles"
"""The map of the site (``[maps] file``), of which maps in frames load parts."""

MANIFEST: Final = "/site.webmanifest"
"""What browsers need to know to install the site."""

WORKER: Final = "/app/worker.js"
"""The script of the service worker; no other address of ours may become one."""

CARD: Final = re.compile(r"/project/[^/]+/embed/?")
"""The paths of the cards that pages of other sites may show in a frame."""

STUB: Final = (
    '<!doctype html><script>parent.postMessage("presenter:go " + location.pathname + location.search, location.origin)'
    "</script>"
)
"""What a frame gets when it sends itself to one of our pages: the page around it decides where to go."""

TOKENS: Final = "allow-scripts allow-forms"
"""The frame's sandbox; bridge.js sets the same on the element, in case a proxy loses the header."""


_FRAMES: Final = frozenset({"iframe", "frame", "fencedframe"})
_PARTS: Final = frozenset(
    {"image", "audio", "video", "track", "style", "script", "font", "manifest", "object", "embed"}
)  # what a page is made of: see is_public
_HOST: Final = re.compile(r"[A-Za-z0-9.-]+(?::[0-9]{1,5})?")  # as a policy may name it; it has no form for IPv6
_FORBIDDEN: Final = ("camera", "microphone", "geolocation", "display-capture", "fullscreen", "payment", "usb")
_EVERYWHERE: Final = {
    "X-Content-Type-Options": "nosniff",
    # Not no-referrer: under it our own forms would post with `Origin: null` and be refused below.
    "Referrer-Policy": "strict-origin-when-cross-origin",
}


EARLY_SCRIPTS: Final = ("presenter/early.js",)
EARLY_SHEETS: Final = ("tokens.css", "presenter/first.css")
"""What the page around a presenter has in itself, so that it waits for no other file: static files."""


@attrs.frozen
class Inlined:
    """The script and the style sheet that a page has in itself, as a policy names them."""

    script: str
    style: str


def page_headers(nonce: str = "", host: str = "", inlined: Inlined | None = None) -> dict[str, str]:
    """Headers of crowdd's own pages; scripts run only with ``nonce`` and what these import, and none without one.

    Pictures come from three folders of ``host``, the Host of the request: an address of ours that does something must
    not be asked for by a picture. ``frame-src 'self'`` also keeps the presenter frame from walking off to another site
    or to a ``data:`` address.
    """
    return _page_headers(f"'nonce-{nonce}'" if nonce else "'none'", host, inlined)


def shared_page_headers(host: str = "", inlined: Inlined | None = None) -> dict[str, str]:
    """The same for a page that many get alike. A nonce that many know protects nobody: scripts run by their folder."""
    return _page_headers(f"{host}/static/" if _HOST.fullmatch(host) else "'self'", host, inlined)


def _page_headers(scripts: str, host: str, inlined: Inlined | None) -> dict[str, str]:
    pictures, styles = _pictures(host), "'self'"
    workers = "'none'"
    if inlined is not None:
        scripts, styles = f"{scripts} {inlined.script}", f"{styles} {inlined.style}"
        workers = f"{host}{WORKER}" if _HOST.fullmatch(host) else "'self'"
    policy = (
        f"default-src 'none'; script-src {scripts}; style-src {styles}; img-src {pictures} data:; media-src {pictures};"
        f" font-src 'self'; connect-src 'self'; manifest-src 'self'; worker-src {workers}; frame-src 'self';"
        " form-action 'self';"
        " base-uri 'none'; frame-ancestors 'none'"
    )
    return {
        **_EVERYWHERE,
        "Content-Security-Policy": policy,
        "X-Frame-Options": "DENY",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
    }


def card_headers(host: str = "") -> dict[str, str]:
    """Headers of a card: a page of any site may show it. Nothing in it runs or is sent."""
    policy = (
        f"default-src 'none'; style-src 'self'; img-src {_pictures(host)} data:; font-src 'self'; form-action 'none';"
        " base-uri 'none'; frame-ancestors *"
    )
    return {**_EVERYWHERE, "Content-Security-Policy": policy, "Cross-Origin-Resource-Policy": "cross-origin"}


def _pictures(host: str) -> str:
    """Where the pictures of our pages come from."""
    return f"{host}/static/ {host}/uploads/ {host}{AT}" if _HOST.fullmatch(host) else "'self'"


def frame_headers(*, https: bool) -> dict[str, str]:
    """Headers of the presenter's document. No ``script-src``: presenters load what they like.

    ``allow-forms`` lets submit handlers run, ``form-action`` keeps what they would send. Under ``https`` the pictures
    and libraries that old presenters name with ``http:`` are asked for with ``https:``.
    """
    policy = f"sandbox {TOKENS}; form-action 'none'; frame-ancestors 'self'"
    return {
        **_EVERYWHERE,
        "Content-Security-Policy": policy + ("; upgrade-insecure-requests" if https else ""),
        "Permissions-Policy": ", ".join(f"{name}=()" for name in _FORBIDDEN),
        "Cache-Control": "no-store",
    }


def stub_headers() -> dict[str, str]:
    """Headers of STUB: it may run its one line and nothing else."""
    policy = "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; frame-ancestors 'self'"
    return {**_EVERYWHERE, "Content-Security-Policy": policy, "Cache-Control": "no-store"}


def api_headers() -> dict[str, str]:
    """Headers of everything under ``/api``: data, never a document."""
    return {
        **_EVERYWHERE,
        "Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
        "Cross-Origin-Resource-Policy": "same-origin",
    }


def public_headers() -> dict[str, str]:
    """Headers of static files: an opaque origin is foreign even to its own server. Never with credentials."""
    return {**_EVERYWHERE, "Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin"}


def preflight_headers() -> dict[str, str]:
    """Headers for a page that asks whether it may load a part of a public file."""
    return {**public_headers(), "Access-Control-Allow-Methods": "GET, HEAD", "Access-Control-Allow-Headers": "Range"}


def upload_headers() -> dict[str, str]:
    """Headers of public uploads: as static files, but a document among them must not run as one of ours."""
    policy = "sandbox; default-src 'none'; img-src 'self' data:; media-src 'self'; style-src 'unsafe-inline'"
    return {**public_headers(), "Content-Security-Policy": policy}


def is_public(path: str) -> bool:
    """True for what anybody may load from anywhere: static files, uploads, the colours and the map of the site."""
    return path.startswith(("/static/", "/uploads/")) or path in (SITE_STYLE, SITE_MAP, MANIFEST)


def worker_headers(allowed: str = "") -> dict[str, str]:
    """Headers of the service worker's script. It loads no other script, and asks this server alone.

    It may answer below ``/app/``, where it is, or below the path ``allowed``.
    """
    return {
        **_EVERYWHERE,
        "Content-Security-Policy": "default-src 'none'; connect-src 'self'",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "no-cache",
        **({"Service-Worker-Allowed": allowed} if allowed else {}),
    }


def is_foreign_worker(path: str, dest: str) -> bool:
    """True when a browser asks for another script than WORKER as a service worker."""
    return dest == "serviceworker" and path != WORKER


def is_shown(path: str) -> bool:
    """True for what our pages show as a part of them, to those who may see it: asking for it changes nothing."""
    return path.startswith(AT)


def is_framed(dest: str) -> bool:
    """True when ``Sec-Fetch-Dest`` says that the answer would be shown inside another document."""
    return dest in _FRAMES


def wants_frame(path: str, marked: bool, dest: str) -> bool:
    """True when the presenter's document is asked for; ``marked``: the query has MARK.

    Never for a whole window: there the presenter would look like a page of ours. Browsers without the header send "".
    """
    return marked and dest in ("iframe", "") and FRAMED.fullmatch(path) is not None


def wants_card(path: str, dest: str) -> bool:
    """True when a card is asked for by a frame, on any page."""
    return is_framed(dest) and CARD.fullmatch(path) is not None


def wants_stub(path: str, marked: bool, dest: str) -> bool:
    """True when STUB is the answer, before any handler runs: a frame's navigation must not change anything."""
    if not is_framed(dest) or is_public(path) or path.startswith("/api/"):
        return False
    return not (wants_frame(path, marked, dest) or wants_card(path, dest))


def refusal(origin: str, site: str, dest: str) -> str | None:
    """Why a request is refused whatever its route, or None.

    Takes the values of Origin, Sec-Fetch-Site and Sec-Fetch-Dest, "" where absent. Not to be asked for public files
    and for the frame itself. It protects what a presenter calls without the bridge, and people who look at a text in
    which somebody else named one of our addresses as a picture.
    """
    if dest in _PARTS:
        return "This address is not a part of a page."
    if origin == "null":
        return "Requests of an opaque origin go over the bridge."
    if site == "cross-site" and not origin and dest != "document":
        return "Not to be embedded by another site."
    return None


def scope_refusal(scope: str, path: str) -> str | None:
    """Why a request marked ``X-Presenter: scope`` is refused by its path alone, or None; "" means not marked."""
    if scope and not path.startswith("/api/"):
        return "Presenters may only ask the API."
    return None
