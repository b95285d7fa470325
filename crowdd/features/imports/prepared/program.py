"""The program that reads one file into rows, with little memory and time: ``process.prepare`` starts it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import orjson

from crowdd.features.imports.prepared import biodiversity, coco, geodata, iiif, parquet, workbook
from crowdd.kernel.concurrency.isolated import Limits
from crowdd.kernel.errors import CrowddError

LIMITS = Limits(memory=1_000_000_000, cpu_seconds=100, file_bytes=600_000_000)

CONVERTERS: Mapping[str, Callable[[Path, Path, dict[str, Any], str], None]] = {
    "xlsx": workbook.convert,
    "ods": workbook.convert,
    "parquet": parquet.convert,
    "dwca": biodiversity.convert_darwin_core,
    "observations": biodiversity.convert_observations,
    "iiif": iiif.convert_manifest,
    "geojson": geodata.convert_geojson,
    "gpx": geodata.convert_gpx,
    "coco": coco.convert,
}


def convert(format_: str, source: str, target: str, options: str) -> bytes:
    """Reads a file into rows. Nothing, or why the file cannot be used, as JSON."""
    chosen = orjson.loads(options)
    try:
        about = {"format": format_, "chosen": chosen}
        CONVERTERS[format_](Path(source), Path(target), about, chosen.get("sheet", ""))
    except CrowddError as error:
        return orjson.dumps({"error": str(error)})
    return b""
