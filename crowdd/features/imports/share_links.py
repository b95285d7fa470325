"""Links that people copy to share a file, and the addresses from which such a file is downloaded. Pure."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit, urlunsplit

_SHEET = re.compile(r"/spreadsheets/(?:u/\d+/)?d/(?!e/)([\w-]+)(?:/.*)?")
_PUBLISHED = re.compile(r"/spreadsheets/(?:u/\d+/)?d/e/([\w-]+)/pub(?:html)?")
_DROPBOX = re.compile(r"/(?:s|scl/fi)/.+")
_NEXTCLOUD = re.compile(r"(?P<share>.*/s/[A-Za-z0-9]{15})/?")  # of any server; the length is that of its tokens


def download_address(url: str) -> str:
    """Where the file behind a share link is: Google Sheets (as CSV), Dropbox, Nextcloud. Any other address as it is."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return url  # the client says what is wrong with it
    if parts.scheme not in ("http", "https"):
        return url
    if host == "docs.google.com":
        return _google(url)
    if host in ("www.dropbox.com", "dropbox.com") and _DROPBOX.fullmatch(parts.path):
        others = [pair for pair in parse_qsl(parts.query) if pair[0] not in ("dl", "raw")]
        return urlunsplit(parts._replace(query=urlencode([*others, ("dl", "1")]), fragment=""))
    if match := _NEXTCLOUD.fullmatch(parts.path):
        return urlunsplit(parts._replace(path=f"{match['share']}/download", query="", fragment=""))
    return url


def _google(url: str) -> str:
    """The export of the sheet that a link shows, or of the first."""
    parts = urlsplit(url)
    named = {**parse_qs(parts.query), **parse_qs(parts.fragment)}.get("gid", [""])[0]
    gid = {"gid": named} if named.isascii() and named.isdigit() else {}
    base = "https://docs.google.com/spreadsheets/d"
    if match := _PUBLISHED.fullmatch(parts.path):
        asked = {"output": "csv", **gid, **({"single": "true"} if gid else {})}
        return f"{base}/e/{match[1]}/pub?{urlencode(asked)}"
    match = _SHEET.fullmatch(parts.path)
    if match is None or parts.path.endswith("/export"):
        return url
    return f"{base}/{match[1]}/export?{urlencode({'format': 'csv', **gid})}"
