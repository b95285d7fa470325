"""Byte code of templates, kept between starts as Python keeps that of modules.

To compile a page's template and those it includes takes up to 150 ms, for which nobody else is answered.
"""

from __future__ import annotations

import pickle
from pathlib import Path

import jinja2
from jinja2.bccache import Bucket, FileSystemBytecodeCache

from crowdd.http.html.kept_files import folder_for


class _ByteCode(FileSystemBytecodeCache):
    """Files of Jinja, of which a damaged one counts as missing."""

    def load_bytecode(self, bucket: Bucket) -> None:
        try:
            super().load_bytecode(bucket)
        except (pickle.UnpicklingError, EOFError, ValueError, TypeError):
            bucket.reset()


def byte_code(templates: Path, data: Path | None = None) -> FileSystemBytecodeCache | None:
    """What keeps it for the templates of a folder; None where nothing can be written.

    A file holds for one text of its template, one Python (both are Jinja's rule) and one Jinja.
    """
    folder = folder_for(templates, data, "templates")
    return None if folder is None else _ByteCode(str(folder), f"jinja-{jinja2.__version__}-%s")
