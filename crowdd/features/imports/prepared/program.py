"""The process that reads one file into rows, with little memory and time: ``process.prepare`` starts it.

    python -m crowdd.features.imports.prepared.program FORMAT SOURCE TARGET OPTIONS

It says nothing, or why the file cannot be used, as JSON. Where a limit ends it, its status is not 0.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import orjson

from crowdd.features.imports.prepared import biodiversity, iiif, parquet, workbook
from crowdd.kernel.concurrency.isolated import bound_process
from crowdd.kernel.errors import CrowddError

MAX_MEMORY = 1_000_000_000  # bytes of addresses
MAX_CPU_SECONDS = 100
MAX_FILE_BYTES = 600_000_000

CONVERTERS: Mapping[str, Callable[[Path, Path, dict[str, Any], str], None]] = {
    "xlsx": workbook.convert,
    "ods": workbook.convert,
    "parquet": parquet.convert,
    "dwca": biodiversity.convert_darwin_core,
    "observations": biodiversity.convert_observations,
    "iiif": iiif.convert_manifest,
}


def limit() -> None:
    """Bounds this process before it looks at anything of the file."""
    bound_process(memory=MAX_MEMORY, cpu_seconds=MAX_CPU_SECONDS, file_bytes=MAX_FILE_BYTES)


def main(arguments: list[str]) -> int:
    """Reads the file that the arguments name."""
    limit()
    format_, source, target, options = arguments
    chosen = orjson.loads(options)
    try:
        about = {"format": format_, "chosen": chosen}
        CONVERTERS[format_](Path(source), Path(target), about, chosen.get("sheet", ""))
    except CrowddError as error:
        sys.stdout.buffer.write(orjson.dumps({"error": str(error)}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
