"""Where the configuration is, and which database it names: the same answer for every command and for the server."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from crowdd.kernel.config.settings import SECTIONS, Settings, list_files, origins, public_dsn

VARIABLE = "CROWDD_CONFIG"
CHECKOUT_CONFIG = Path("etc/crowdd.conf")
SYSTEM_CONFIG = Path("/etc/crowdd/crowdd.conf")

NO_DATABASE = "No database is configured."
WHAT_TO_DO = (
    "Set [db] dsn. Or let crowdctl serve start an embedded PostgreSQL: it does so in a checkout of the source, and in"
    " the folder that [data] dir names, as in: CROWDD_DATA_DIR=/path/to/folder crowdctl serve"
)


def is_checkout(folder: Path) -> bool:
    """Whether a folder is a checkout of the source."""
    return all(os.path.isfile(folder / name) for name in ("crowdd/__init__.py", "setup.py"))


def find_config(
    named: str | Path | None, environ: Mapping[str, str], folder: Path, system: Path = SYSTEM_CONFIG
) -> Path | None:
    """The configuration that is read: the named one, that of CROWDD_CONFIG, of a checkout, or of the system; or none.

    ``folder`` is the current folder. A file that exists but cannot be read is an answer, too: reading it says why.
    """
    if chosen := named or environ.get(VARIABLE):
        return Path(chosen)
    if is_checkout(folder) and os.path.lexists(folder / CHECKOUT_CONFIG):
        return CHECKOUT_CONFIG
    return system if _may_exist(system) else None


def _may_exist(path: Path) -> bool:
    try:
        path.lstat()
    except PermissionError:  # of its folder, which is not open to everybody
        return True
    except OSError:
        return False
    return True


def may_embed(config: Path | None, environ: Mapping[str, str], folder: Path) -> bool:
    """Whether an embedded PostgreSQL may be made: its folder is named, or it is the one of a checkout."""
    return is_checkout(folder) or ("data", "dir") in origins(config, environ)


def list_variables(environ: Mapping[str, str]) -> list[str]:
    """The variables of the environment that set something."""
    return sorted(name for name in environ if name.startswith("CROWDD_") and name.split("_")[1].lower() in SECTIONS)


def describe_config(config: Path | None, environ: Mapping[str, str]) -> str:
    """Which files and variables the settings come from."""
    files = ", ".join(map(str, list_files(config))) if config else f"none (no {SYSTEM_CONFIG}, and this is no checkout)"
    return ", ".join([files, *list_variables(environ)])


def describe_database(settings: Settings) -> str:
    """Which database the settings name, without a password."""
    if settings.db.dsn:
        return public_dsn(settings.db.dsn)
    folder = settings.data.dir.absolute()
    return f"the embedded one in {folder}" if os.path.lexists(folder / "postgres") else "none"
