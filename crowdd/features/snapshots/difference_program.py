"""The process that compares two snapshots, with bounded memory and time: ``differences`` starts it.

    python -m crowdd.features.snapshots.difference_program FOLDER

``FOLDER`` has the deflated files of both in ``before`` and ``after``, and ``about.json``: the hashes of the documents
of both, and codes of volunteers who have withdrawn. It gets ``changes.ndjson``, and ``summary.json`` as the last file.
Where a limit ends the process, its status is not 0.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import orjson

from crowdd.features.snapshots.canonical_json import dumps
from crowdd.features.snapshots.comparing import CHANGES, TABLES, Comparison, KeptSnapshot
from crowdd.kernel.concurrency.isolated import bound_process, watch_server, yield_to_requests
from crowdd.kernel.values import Values

MAX_MEMORY: Final = 2_000_000_000  # bytes of addresses
MAX_CPU_SECONDS: Final = 900
MAX_FILE_BYTES: Final = 10_000_000_000
MAX_NAMED: Final = 200  # settings that the summary has with their values
MAX_SHOWN: Final = 500  # characters of a value there
ABOUT_FILE, SUMMARY_FILE, CHANGES_FILE = "about.json", "summary.json", "changes.ndjson"
BEFORE_FOLDER, AFTER_FOLDER = "before", "after"
_DEEP: Final = 20_000  # levels of JSON, as in ``snapshots.program``


def main(arguments: list[str]) -> int:
    """Compares the snapshots in the folder that the argument names."""
    yield_to_requests(19)
    sys.setrecursionlimit(_DEEP)
    sys.set_int_max_str_digits(0)
    bound_process(memory=MAX_MEMORY, cpu_seconds=MAX_CPU_SECONDS, file_bytes=MAX_FILE_BYTES)
    watch_server()
    compare(Path(arguments[0]))
    return 0


def compare(folder: Path) -> None:
    """Writes the changes, and then the summary."""
    about = orjson.loads((folder / ABOUT_FILE).read_bytes())
    withdrawn = frozenset(about["withdrawn"])
    comparison = Comparison(
        KeptSnapshot(folder / BEFORE_FOLDER, withdrawn), KeptSnapshot(folder / AFTER_FOLDER, withdrawn)
    )
    counts = {kind: dict.fromkeys(CHANGES, 0) for kind in TABLES}
    named: dict[str, list[Values]] = {"setting": [], "document": []}
    with (folder / CHANGES_FILE).open("wb") as out:
        for change in comparison.changes((about[BEFORE_FOLDER], about[AFTER_FOLDER])):
            out.write(dumps(change) + b"\n")
            kind = change["kind"]
            if kind in counts:
                counts[kind][change["change"]] += 1
            elif len(named[kind]) < MAX_NAMED:
                named[kind].append(_short(change))
    summary = {"counts": counts, "settings": named["setting"], "documents": named["document"]}
    (folder / SUMMARY_FILE).write_bytes(orjson.dumps(summary))


def _short(change: Values) -> Values:
    """A change of a setting with its values as texts for people."""
    if "values" not in change:
        return {"name": change["name"], "change": change["change"]}
    return {"name": change["name"], "values": [_shown(value) for value in change["values"]]}


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else "" if value is None else dumps(value).decode()
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
