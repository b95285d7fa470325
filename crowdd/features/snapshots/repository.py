"""Deposit in a repository with the REST API of Zenodo, and the metadata that it gets (https://developers.zenodo.org).

It works for the account of an access token. All requests go through the guarded client. The token goes to the address
that its owner has named and nowhere else, and stands in no error.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import AsyncGenerator, Mapping
from html import escape
from typing import Final
from urllib.parse import quote, urlsplit

import attrs
import orjson

from crowdd.core.outbound.client import Outgoing, Response, SentBody
from crowdd.kernel.errors import InvalidValueError, UnavailableError, UnreachableError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values

_LICENCES: Final = {"CC0-1.0": "cc-zero"}  # the others are called by their SPDX identifier in lower case
_MAX_TITLE: Final = 250  # characters
_RELATION: Final = "isIdenticalTo"


def require_citable(manifest: Values) -> None:
    """Raises InvalidValueError without a licence or an author, which a repository requires."""
    if manifest.get("license") is None:
        raise InvalidValueError(_("Choose a licence of the data set first, and make another snapshot."))
    if not manifest.get("authors"):
        raise InvalidValueError(_("Name an author of the data set first, and make another snapshot."))


def metadata(manifest: Values, address: str) -> Values:
    """The attribute ``metadata`` of a deposition. ``address``: that of the snapshot. Raises as ``require_citable``."""
    require_citable(manifest)
    licence, authors = manifest["license"], manifest["authors"]
    hash_ = str(manifest["hash"])
    return {
        "upload_type": "dataset",
        "title": str(manifest["name"])[:_MAX_TITLE],
        "creators": [
            {"name": each["name"], **({"orcid": each["orcid"]} if each.get("orcid") else {})} for each in authors
        ],
        "description": _description(manifest, address),
        "publication_date": str(manifest["created"])[:10],
        "version": hash_[:12],
        "access_right": "open",
        "license": _LICENCES.get(licence, licence.lower()),
        "related_identifiers": [{"identifier": address, "relation": _RELATION}],
    }


def is_of(deposition: Mapping[str, object], address: str) -> bool:
    """Whether a deposition was made of the snapshot at this address."""
    stored_metadata = deposition.get("metadata")
    related = stored_metadata.get("related_identifiers") if isinstance(stored_metadata, dict) else None
    identifiers = related if isinstance(related, list) else []
    return any(isinstance(each, dict) and each.get("identifier") == address for each in identifiers)


def _description(manifest: Values, address: str) -> str:
    """HTML."""
    counts, link = manifest["counts"], escape(address)
    figures = f"{counts['tasks']:,} tasks, {counts['answers']:,} answers, {counts['results']:,} results."
    return (
        f"<p>Data of the crowdsourcing project {escape(str(manifest['name']))}. {figures}"
        " README.md describes the files.</p>"
        f'<p>{escape(str(manifest["citation"]))}</p><p>Snapshot {manifest["hash"]}: <a href="{link}">{link}</a></p>'
    )


PUBLIC: Final = "https://zenodo.org"
_API: Final = "/api/deposit/depositions"
_SECONDS: Final = 60.0
_SLOWEST: Final = 50_000  # bytes per second of an upload
_MAX_ANSWER: Final = 4_000_000  # bytes
_MAX_REASON: Final = 300  # characters
_MAX_ID: Final = 200
_PLAIN: Final = re.compile(r"https?://[!-~]{1,1000}")
_LISTED: Final = 100
_LATER: Final = frozenset({408, 425, 429})


@attrs.frozen
class Deposition:
    """A deposition. ``files``: size and MD5 of what is there, by name. ``doi`` is empty until it is ``published``."""

    id: str
    bucket: str
    page: str
    published: bool
    doi: str
    files: Mapping[str, tuple[int, str]]


@attrs.frozen
class Repository:
    """``url`` is the address of the site. Methods raise InvalidValueError for what would only be refused again, and
    UnavailableError for what may go away by itself; RefusedTargetError for an address that must not be asked.
    """

    _outgoing: Outgoing
    _url: str
    _token: str = attrs.field(repr=False)

    async def find(self, address: str) -> Deposition | None:
        """The deposition of a snapshot that is not published yet; one of the newest _LISTED."""
        depositions = _objects(await self._ask("GET", f"{self._url}{_API}?sort=mostrecent&size={_LISTED}"))
        first = next((each for each in depositions if not each.get("submitted") and is_of(each, address)), None)
        return None if first is None else await self.get(_text(first.get("id"), _MAX_ID))

    async def create(self, metadata: Values) -> Deposition:
        """A new one without files."""
        return self._deposition(await self._ask("POST", f"{self._url}{_API}", {"metadata": metadata}))

    async def get(self, id_: str) -> Deposition:
        """One by its id."""
        return self._deposition(await self._ask("GET", self._at(id_)))

    async def describe(self, id_: str, metadata: Values) -> None:
        """Replaces the metadata."""
        await self._ask("PUT", self._at(id_), {"metadata": metadata})

    async def upload(self, of: Deposition, name: str, size: int, pieces: AsyncGenerator[bytes, None]) -> None:
        """Stores a file; one with the name is replaced."""
        digest = hashlib.md5(usedforsecurity=False)

        async def noted() -> AsyncGenerator[bytes, None]:
            async for piece in pieces:
                digest.update(piece)
                yield piece

        seconds = _SECONDS + size / _SLOWEST
        address = f"{of.bucket}/{quote(name, safe='')}"
        response = await self._ask("PUT", address, body=SentBody(size, noted()), seconds=seconds)
        if _md5(_object(response)) != digest.hexdigest():
            raise UnavailableError(_("%(name)s was damaged on its way to the repository.", name=name))

    async def publish(self, id_: str) -> Deposition:
        """Publishes a deposition, which can then not be deleted."""
        return self._deposition(await self._ask("POST", f"{self._at(id_)}/actions/publish"))

    def _at(self, id_: str) -> str:
        return f"{self._url}{_API}/{quote(id_, safe='')}"

    async def _ask(
        self,
        method: str,
        address: str,
        value: object = None,
        *,
        body: SentBody | None = None,
        seconds: float = _SECONDS,
    ) -> object:
        """The JSON value that is answered."""
        headers = {"Authorization": f"Bearer {self._token}", "Accept": "application/json"}
        headers["Content-Type"] = "application/octet-stream" if body is not None else "application/json"
        sent = orjson.dumps(value) if value is not None else body
        try:
            answer = await self._outgoing.request(
                method, address, headers, sent, seconds=seconds, max_bytes=_MAX_ANSWER
            )
        except UnreachableError as error:
            raise UnavailableError(str(error)) from None
        if 200 <= answer.status < 300:
            return _json(answer)
        raise self._refusal(answer)

    def _refusal(self, answer: Response) -> Exception:
        if answer.status >= 500 or answer.status in _LATER:
            return UnavailableError(_("The repository has a problem (status %(status)s).", status=answer.status))
        if answer.status in (401, 403):
            words = _("The repository refused the access token. It needs the scopes deposit:write and deposit:actions.")
            return InvalidValueError(words)
        if answer.status in (404, 410):
            return InvalidValueError(_("The repository does not have this deposit, or no such address."))
        reason = self._reason(answer)
        words = _("The repository refused it (status %(status)s): %(reason)s", status=answer.status, reason=reason)
        return InvalidValueError(words)

    def _reason(self, answer: Response) -> str:
        """What the repository says, without the token."""
        document = _object(_json(answer, strict=False))
        parts = [str(document.get("message", "")), *map(_fault, _objects(document.get("errors")))]
        text = " ".join(part for part in parts if part).replace(self._token, "…")
        return _text(text, _MAX_REASON) or "–"

    def _deposition(self, document: object) -> Deposition:
        """Raises UnavailableError for what is no deposition, or names other sites."""
        deposition = _object(document)
        links, id_ = _object(deposition.get("links")), _text(deposition.get("id"), _MAX_ID)
        bucket, page = str(links.get("bucket")), str(links.get("record_html") or links.get("html"))
        published = bool(deposition.get("submitted"))
        if not id_ or (not published and not self._is_ours(bucket)):
            raise _strange()  # the token must not go elsewhere
        return Deposition(
            id_,
            bucket,
            page if self._is_ours(page) else self._url,
            published,
            _text(deposition.get("doi"), _MAX_ID) if published else "",
            {name: (size, md5) for name, size, md5 in map(_file, _objects(deposition.get("files")))},
        )

    def _is_ours(self, address: str) -> bool:
        """Whether an address is plain, not long, and at the site."""
        return _PLAIN.fullmatch(address) is not None and _origin(address) == _origin(self._url)


def _origin(address: str) -> tuple[str, str]:
    try:
        parts = urlsplit(address)
    except ValueError:
        return "", address
    return parts.scheme, parts.netloc


def _object(json_value: object) -> Mapping[str, object]:
    """A JSON object; an empty one in the place of anything else."""
    return json_value if isinstance(json_value, dict) else {}


def _objects(json_value: object) -> list[Mapping[str, object]]:
    """The objects in a JSON array."""
    return [each for each in json_value if isinstance(each, dict)] if isinstance(json_value, list) else []


def _text(json_value: object, maximum: int) -> str:
    """A text or a number, without what cannot be printed."""
    text = str(json_value) if isinstance(json_value, str | int) else ""
    return "".join(c if c.isprintable() else " " for c in text[:maximum])


def _fault(error: Mapping[str, object]) -> str:
    return f"{error.get('field')}: {error.get('message')}"


def _file(file_entry: Mapping[str, object]) -> tuple[str, int, str]:
    size = file_entry.get("filesize", file_entry.get("size"))
    name = str(file_entry.get("filename", file_entry.get("key", "")))
    return name, int(size) if isinstance(size, int | float) else -1, _md5(file_entry)


def _md5(file_entry: Mapping[str, object]) -> str:
    return str(file_entry.get("checksum") or "").removeprefix("md5:")


def _json(answer: Response, *, strict: bool = True) -> object:
    try:
        document: object = orjson.loads(answer.body)
        return document
    except orjson.JSONDecodeError:
        if strict:
            raise _strange() from None
        return None


def _strange() -> UnavailableError:
    return UnavailableError(_("The repository sent an answer that Zenodo's API does not have."))
