"""Byte code of templates, kept between starts as Python keeps that of modules.

To compile a page's template and those it includes takes up to 150 ms, for which nobody else is answered.
"""

from __future__ import annotations

import hashlib
import pickle
from contextlib import suppress
from pathlib import Path

import jinja2
from jinja2.bccache import Bucket, BytecodeCache, FileSystemBytecodeCache

from crowdd.http.html.kept_files import folder_for


class _ByteCode(FileSystemBytecodeCache):
    """Files of Jinja. A damaged one counts as missing, and a full disk keeps no page from being rendered."""

    def load_bytecode(self, bucket: Bucket) -> None:
        try:
            super().load_bytecode(bucket)
        except (pickle.UnpicklingError, EOFError, ValueError, TypeError, OSError):
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):
            super().dump_bytecode(bucket)


def byte_code(templates: Path, made_by: Path, data: Path | None = None) -> FileSystemBytecodeCache | None:
    """What keeps it for the templates of a folder; None where nothing can be written.

    A file holds for one text of its template, one Python (both are Jinja's rule), one Jinja, and one ``made_by``: the
    module with the settings and filters that they are compiled with.
    """
    folder = folder_for(templates, data, "templates")
    if folder is None:
        return None
    settings = hashlib.sha256(made_by.read_bytes()).hexdigest()[:8]
    return _ByteCode(str(folder), f"jinja-{jinja2.__version__}-{settings}-%s")


def sweep(cache: BytecodeCache | None) -> None:
    """Removes what other settings and another Jinja have left."""
    if isinstance(cache, _ByteCode):
        for path in Path(cache.directory).glob("jinja-*"):
            if not path.name.startswith(cache.pattern.removesuffix("%s")):
                path.unlink(missing_ok=True)
