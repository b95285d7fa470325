"""Where a server keeps what it makes of its own files, so that it does so once and not at each start."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def folder_for(beside: Path, data: Path | None, name: str) -> Path | None:
    """``__pycache__`` in the folder ``beside``, or ``name`` in the data folder where that cannot be written.

    Returns None if neither is writable. A server runs what it finds there, so keep both folders from people who may not
    change crowdd.
    """
    own = [] if sys.dont_write_bytecode else [beside / "__pycache__"]
    for folder in [*own, *([] if data is None else [data / name])]:
        try:
            folder.mkdir(exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    return None
