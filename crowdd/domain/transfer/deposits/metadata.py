"""What a repository is told of a snapshot, in the words of Zenodo's REST API (developers.zenodo.org)."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Final

from crowdd.errors import InvalidValueError
from crowdd.languages import _
from crowdd.values import Values

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
