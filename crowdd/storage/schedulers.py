"""Schedulers: each is a file in ``definitions/schedulers``; ``depth_first.sql`` says how to write one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from crowdd import PACKAGE

FOLDER = PACKAGE / "storage/definitions/schedulers"
FALLBACK = "depth_first"  # for a project whose scheduler's file is gone
_NAME = re.compile(r"[a-z][a-z0-9_]*")


def names(folder: Path = FOLDER) -> tuple[str, ...]:
    """The names that ``project.info.sched`` may have."""
    return tuple(sorted(path.stem for path in folder.glob("*.sql") if _NAME.fullmatch(path.stem)))


def dispatch(known: Iterable[str]) -> str:
    """The functions that choose among schedulers by name: mode_of and next_scan."""
    others = sorted((name for name in known if name != FALLBACK), key=lambda name: name != "default")  # most ask for it
    modes = "\n".join(f"    WHEN '{name}' THEN RETURN {name}_mode();" for name in others)
    scans = "\n".join(f"    WHEN '{name}' THEN RETURN {name}_scan(p, p_order, p_scan);" for name in others)
    return f"""
CREATE FUNCTION mode_of(p_sched text) RETURNS assignment_mode STABLE LANGUAGE plpgsql AS $$
BEGIN CASE p_sched
{modes}
    ELSE RETURN {FALLBACK}_mode(); END CASE; END $$;
CREATE FUNCTION next_scan(p project_ledger, p_order text, p_scan text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN CASE p.sched
{scans}
    ELSE RETURN {FALLBACK}_scan(p, p_order, p_scan); END CASE; END $$;
"""
