"""Is there a known hole in what crowdd is installed with? Asks pip-audit, which asks PyPI and OSV.

    make audit                  (python -m bench.release.audit [--path site-packages])

pip-audit lives in a virtual environment of its own for as long as this takes. Ends with 0 when every package was
looked up and none has a hole, with 1 when there is one, with 2 when a package could not be looked up: that nobody
answers is no clean bill.
"""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import tempfile
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

TOOL = "pip-audit>=2.9,<3"
SECONDS = 300
CLEAN, HOLES, UNKNOWN = 0, 1, 2
OURS = "crowdd"  # on no index


def judge(packages: Sequence[Mapping[str, Any]]) -> tuple[int, list[str]]:
    """The exit status and lines for people, of the packages that pip-audit tells of."""
    asked = [package for package in packages if package["name"] != OURS]
    unknown = [package["name"] for package in asked if "skip_reason" in package]
    holes = [f"{p['name']} {p['version']}: {hole['id']}{_mended(hole)}" for p in asked for hole in p.get("vulns", ())]
    lines = [f"{len(asked) - len(unknown)} packages were looked up, {len(holes)} known holes.", *holes]
    if unknown:
        lines.append(f"NOT looked up, so nothing is known of them: {', '.join(unknown)}.")
    return HOLES if holes else UNKNOWN if unknown or not asked else CLEAN, lines


def _mended(hole: Mapping[str, Any]) -> str:
    versions = ", ".join(hole.get("fix_versions") or ())
    return f" (mended in {versions})" if versions else ""


def audited(packages: Path) -> tuple[int, list[str]]:
    """Status and lines of what is installed in a folder of packages."""
    with tempfile.TemporaryDirectory(prefix="crowdd-audit-") as folder:
        venv.create(folder, with_pip=True)
        programs = Path(folder) / "bin"
        installed = _run([programs / "pip", "install", "-q", "--disable-pip-version-check", TOOL])
        if installed.returncode:
            return UNKNOWN, [f"pip-audit could not be installed: {_last(installed)}"]
        command = [programs / "pip-audit", "--path", packages, "--format", "json", "--progress-spinner", "off"]
        done = _run([*command, "--timeout", "15"])
    try:
        return judge(json.loads(done.stdout)["dependencies"])
    except ValueError:
        return UNKNOWN, [f"Nobody could be asked about known holes: {_last(done)}"]


def _run(command: Sequence[Any]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, UNKNOWN, "", f"no answer within {SECONDS} seconds")


def _last(done: subprocess.CompletedProcess[str]) -> str:
    lines = done.stderr.strip().splitlines()
    return lines[-1] if lines else f"it ended with {done.returncode}"


@click.command()
@click.option("--path", default=sysconfig.get_path("purelib"), type=click.Path(path_type=Path), help="Another folder.")
def main(path: Path) -> None:
    """Look for known holes in the packages of this environment."""
    status, lines = audited(path)
    print("\n".join(lines))
    sys.exit(status)


if __name__ == "__main__":
    main()
