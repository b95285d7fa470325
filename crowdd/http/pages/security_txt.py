"""The contact for reporting vulnerabilities of this site (RFC 9116)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

from crowdd.errors import NotFoundError
from crowdd.http.html.presenter import api_headers
from crowdd.http.request import Incoming
from crowdd.http.responses import BytesResponse, Response
from crowdd.http.routing import Route, get

PATH = "/.well-known/security.txt"
_GOOD_DAYS = 180


class SecurityTxt:
    """``/.well-known/security.txt``; ``seconds`` is the time since 1970."""

    def __init__(self, contact: str, base_url: str, seconds: Callable[[], float]) -> None:
        self._contact, self._base_url, self._seconds = contact, base_url, seconds

    def routes(self) -> Iterator[Route]:
        yield get(PATH, self.text, page=False)

    async def text(self, incoming: Incoming) -> Response:
        """The file, valid for half a year. Raises NotFoundError if the operator has set no contact."""
        if not self._contact:
            raise NotFoundError("404 Not Found")
        now = datetime.fromtimestamp(self._seconds(), UTC)
        body = security_txt(self._contact, f"{self._base_url}{PATH}", now)
        return BytesResponse(body.encode(), "text/plain; charset=utf-8", headers=api_headers())


def security_txt(contact: str, canonical: str, now: datetime) -> str:
    """The text of the file."""
    address = contact if contact.startswith("https://") else f"mailto:{contact}"
    expires = (now + timedelta(days=_GOOD_DAYS)).replace(hour=0, minute=0, second=0, microsecond=0)
    lines = (
        f"Contact: {address}",
        f"Expires: {expires:%Y-%m-%dT%H:%M:%SZ}",
        "Preferred-Languages: en",
        f"Canonical: {canonical}",
    )
    return "".join(f"{line}\n" for line in lines)
