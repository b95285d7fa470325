"""Change one setting in the text of a configuration file, and leave everything else as it is."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import tempfile
from pathlib import Path


def option_of(line: str) -> str:
    """The name of the option that a line of a configuration sets; empty if it sets none."""
    if not line or line[0] in "#;[ \t":
        return ""
    name, *value = re.split(r"[=:]", line, maxsplit=1)
    return name.strip().lower() if value else ""


def with_value(text: str, section: str, option: str, value: str) -> str:
    """The text with ``option = value`` in its section: in place of the old value, or of the commented-out example.

    A section that the text lacks is added at its end.
    """
    line, lines = f"{option} = {value}".rstrip(), text.splitlines()
    first = next((n for n, each in enumerate(lines) if each.strip() == f"[{section}]"), None)
    if first is None:
        return "\n".join([*lines, *([""] if lines else []), f"[{section}]", line]) + "\n"
    end = next((n for n in range(first + 1, len(lines)) if lines[n].startswith("[")), len(lines))
    own = range(first + 1, end)
    if (old := next((n for n in own if option_of(lines[n]) == option), None)) is not None:
        after = old + 1
        while after < end and lines[after][:1] in (" ", "\t") and lines[after].strip():  # the old value goes on
            after += 1
        lines[old:after] = [line]
    elif (example := next((n for n in own if option_of(lines[n].removeprefix("#")) == option), None)) is not None:
        lines[example] = line
    else:
        last = max((n for n in own if lines[n].strip()), default=first)
        lines.insert(last + 1, line)
    return "\n".join(lines) + "\n"


def replace_text(path: Path, text: str) -> None:
    """Give a file new contents in one step; it keeps its owner and its permissions."""
    path = path.resolve()
    before = path.stat()
    descriptor, draft = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            if os.geteuid() == 0:
                os.fchown(descriptor, before.st_uid, before.st_gid)
            os.fchmod(descriptor, stat.S_IMODE(before.st_mode))
            file.write(text)
            file.flush()
            os.fsync(descriptor)
        os.replace(draft, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(draft)
        raise
