"""Byte code of templates, kept between starts as Python keeps that of modules.

To compile a page's template and those it includes takes up to 150 ms, for which nobody else is answered.
"""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path

import jinja2
from jinja2.bccache import Bucket, FileSystemBytecodeCache


class _ByteCode(FileSystemBytecodeCache):
    """Files of Jinja, of which a damaged one counts as missing."""

    def load_bytecode(self, bucket: Bucket) -> None:
        try:
            super().load_bytecode(bucket)
        except (pickle.UnpicklingError, EOFError, ValueError, TypeError):
            bucket.reset()


def byte_code(templates: Path, data: Path | None = None) -> FileSystemBytecodeCache | None:
    """What keeps it: in ``__pycache__`` beside the templates, or in the data folder where that cannot be written.

    None where neither can. A file holds for one text of its template, one Python (both are Jinja's rule) and one
    Jinja; whoever may write to these folders may change the program anyway.
    """
    beside = [] if sys.dont_write_bytecode else [templates / "__pycache__"]
    for folder in [*beside, *([] if data is None else [data / "templates"])]:
        try:
            folder.mkdir(exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return _ByteCode(str(folder), f"jinja-{jinja2.__version__}-%s")
    return None
