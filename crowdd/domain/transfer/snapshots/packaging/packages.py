"""All files in which a snapshot describes itself."""

from __future__ import annotations

from collections.abc import Iterator

import orjson

from crowdd import PACKAGE
from crowdd.domain.transfer.snapshots.packaging import citation, croissant, data_package, read_me, ro_crate
from crowdd.domain.transfer.snapshots.packaging.description import Description
from crowdd.values import Values

DICTIONARY = "data_dictionary.json"


def described(of: Description) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the files."""
    yield DICTIONARY, _json(of.dictionary())
    yield citation.NAME, citation.document(of).encode()
    yield croissant.NAME, _json(croissant.document(of))
    yield data_package.NAME, _json(data_package.document(of))
    yield read_me.NAME, read_me.document(of).encode()
    yield ro_crate.NAME, _json(ro_crate.document(of))
    if of.licence is not None:
        yield "LICENSE.txt", (PACKAGE / f"domain/transfer/snapshots/licences/{of.licence.id}.txt").read_bytes()


def _json(value: Values) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2) + b"\n"
