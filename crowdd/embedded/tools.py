"""PostgreSQL's client programs: the version that fits a server, found on this machine or named in the refusal."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import attrs

from crowdd.embedded.binaries import embedded_folder, printed_by, usual_folders
from crowdd.embedded.errors import StartError

NEEDED = ("pg_dump", "pg_restore")


@attrs.frozen
class Tools:
    """A folder with ``pg_dump`` and ``pg_restore`` of one version, such as "17.10"."""

    folder: Path
    version: str

    @property
    def major(self) -> int:
        """The part of the version that must fit the server's."""
        return int(re.split(r"\D", self.version)[0])

    def program(self, name: str) -> str:
        """Path of a program."""
        return str(self.folder / name)


def find_tools(major: int, named: Path | None = None) -> Tools:
    """The tools of this major version, else of the next newer one: older ones do not understand the server.

    ``named`` is a folder that the operator insists on. Raises StartError with a sentence that says what to do.
    """
    return choose(major, [*_examined([named])] if named else [*_examined(_folders())], named)


def choose(major: int, candidates: Iterable[Tools], named: Path | None = None) -> Tools:
    """See ``find_tools``."""
    candidates = [*candidates]
    usable = sorted((tools for tools in candidates if tools.major >= major), key=lambda tools: tools.major)
    if usable:
        return usable[0]
    available = ", ".join(f"{tools.version} in {tools.folder}" for tools in candidates) or "none"
    raise StartError(
        f"pg_dump and pg_restore of PostgreSQL {major} or newer are required (found: {available}"
        f"{f'; looked in {named} only' if named else ''}). "
        f"Install them (apt-get install postgresql-client-{major}), or set --pg-bin to their folder."
    )


def _folders() -> Iterator[Path]:
    """Folders to search for programs. PATH comes last, because it may have a wrapper that chooses a version."""
    yield from usual_folders()
    if embedded := embedded_folder():
        yield embedded
    if asked := shutil.which("pg_dump"):
        yield Path(asked).parent


def _examined(folders: Iterable[Path]) -> Iterator[Tools]:
    for folder in dict.fromkeys(folders):
        if all((folder / name).is_file() for name in NEEDED):
            match = re.search(r"\(PostgreSQL\) (\S+)", printed_by(str(folder / "pg_dump"), "--version"))
            if match:
                yield Tools(folder, match[1])
