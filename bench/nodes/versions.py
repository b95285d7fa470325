"""Later versions of this program: the same code with another version number, more migrations and other functions."""

from __future__ import annotations

import shutil
from pathlib import Path

import crowdd

SOURCE = Path(crowdd.__file__).parent
FIRST_MIGRATION = 9001


def later(place: Path, number: int, migration: str = "") -> Path:
    """A folder for PYTHONPATH with version 0.1.<number>, which knows so many migrations more.

    Each adds a column to tables that every answer uses, and each version has a function that the earlier one does not
    have. ``migration`` takes the place of the last migration's text.
    """
    made = place / f"version-{number}{'-contracting' if migration else ''}"
    package, storage = made / "crowdd", made / "crowdd" / "storage"
    storage.mkdir(parents=True)
    _link(SOURCE, package, without={"storage", "__init__.py"})
    _link(SOURCE / "storage", storage, without={"schema", "migrations", "definitions"})
    for name in ("schema", "migrations", "definitions"):
        shutil.copytree(SOURCE / "storage" / name, storage / name)
    text = (SOURCE / "__init__.py").read_text("utf-8")
    (package / "__init__.py").write_text(text.replace(f'"{crowdd.__version__}"', f'"0.1.{number}"'))
    for each in range(1, number + 1):
        sql = migration if migration and each == number else _expanding(each)
        (storage / "migrations" / f"{FIRST_MIGRATION + each - 1}_later.sql").write_text(sql)
    (storage / "definitions" / "99_later.sql").write_text(
        f"CREATE FUNCTION later_{number}() RETURNS int LANGUAGE sql AS 'SELECT {number}';\n"
    )
    return made


def _link(source: Path, target: Path, without: set[str]) -> None:
    for path in source.iterdir():
        if path.name not in without | {"__pycache__"}:
            (target / path.name).symlink_to(path)


def _expanding(number: int) -> str:
    return (
        "-- expands: columns that earlier versions do not know\n"
        f"ALTER TABLE task_ledger ADD COLUMN later_{number} int;\n"
        f"ALTER TABLE project ADD COLUMN later_{number} text NOT NULL DEFAULT '';\n"
    )
