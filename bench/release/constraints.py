"""Pins what crowdd needs, with hashes: writes etc/constraints.txt.

    make constraints            (python -m bench.release.constraints [--check])

pip resolves what setup.py and pyproject.toml ask for (``pip install --dry-run --report``), for the Python that runs
this; use the oldest supported one, whose markers ask for most. For packages with compiled parts it is asked for the
files of every supported Python and platform, too. The file names no index: pip takes the files from wherever it is
configured to, and refuses those with other hashes. ``--check`` only says whether the file has all requirements.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import click
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
FILE = ROOT / "etc" / "constraints.txt"
HEAD = """\
# What crowdd is installed with, pinned with hashes. Made by: make constraints
# Use: pip install --require-hashes -r constraints.txt && pip install --no-deps crowdd
"""
PYTHONS = ("3.11", "3.12", "3.13")
MACHINES = ("x86_64", "aarch64")
GLIBCS = ("manylinux_2_28", "manylinux_2_26", "manylinux_2_17", "manylinux2014")
SECONDS = 900


@attrs.frozen
class Pin:
    """One package in one version, with the hashes of files that may be installed."""

    name: str
    version: str
    hashes: tuple[str, ...]

    def lines(self) -> str:
        """As a requirements file has it."""
        marks = "".join(f" \\\n    --hash=sha256:{digest}" for digest in sorted(self.hashes))
        return f"{self.name}=={self.version}{marks}\n"


def wanted() -> list[str]:
    """What crowdd needs to be built and to run."""
    names = ("install_requires", "extras_require")
    captured = subprocess.run(
        [sys.executable, "-c", _SETUP], cwd=ROOT, check=True, capture_output=True, text=True, timeout=SECONDS
    )
    asked = json.loads(captured.stdout)
    build = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["build-system"]["requires"]
    return [*asked[names[0]], *build]


_SETUP = """
import json, setuptools
kept = {}
setuptools.setup = kept.update
exec(compile(open("setup.py").read(), "setup.py", "exec"), {"__file__": "setup.py", "__name__": "setup"})
print(json.dumps({name: kept[name] for name in ("install_requires", "extras_require")}))
"""


def pins(report: Mapping[str, Any]) -> dict[str, Pin]:
    """The packages of a report of pip, by name."""
    pins_by_name = {}
    for item in report["install"]:
        name, info = canonicalize_name(item["metadata"]["name"]), item["download_info"]["archive_info"]
        pins_by_name[name] = Pin(name, item["metadata"]["version"], (info["hashes"]["sha256"],))
    return pins_by_name


def compiled(report: Mapping[str, Any]) -> list[str]:
    """The packages whose file is a wheel for this machine only."""
    names = {i["metadata"]["name"]: i["download_info"]["url"].rpartition("/")[2] for i in report["install"]}
    return sorted(name for name, file in names.items() if file.endswith(".whl") and "-none-any" not in file)


def merged(first: Mapping[str, Pin], others: Iterable[Mapping[str, Pin]]) -> list[Pin]:
    """The first pins with the hashes of all, by name."""
    hashes = {name: {*pin.hashes} for name, pin in first.items()}
    for other in others:
        for name, pin in other.items():
            if pin.version == first[name].version:
                hashes[name].update(pin.hashes)
    return [attrs.evolve(first[name], hashes=tuple(sorted(hashes[name]))) for name in sorted(first)]


def written(pinned: Sequence[Pin]) -> str:
    """The text of the file."""
    return HEAD + "".join(pin.lines() for pin in pinned)


def read(text: str) -> dict[str, Pin]:
    """The pins of a file."""
    pins_by_name = {}
    for line in re.sub(r"\\\n", " ", text).splitlines():
        words = line.split()
        if words and not line.startswith("#"):
            name, _, version = words[0].partition("==")
            pins_by_name[name] = Pin(name, version, tuple(w.removeprefix("--hash=sha256:") for w in words[1:]))
    return pins_by_name


def unpinned(pinned: Mapping[str, Pin], requirements: Iterable[str]) -> list[str]:
    """The requirements that no pin meets."""
    missing = []
    for line in requirements:
        requirement = Requirement(line)
        pin = pinned.get(canonicalize_name(requirement.name))
        if pin is None or not requirement.specifier.contains(Version(pin.version), prereleases=True):
            missing.append(line)
    return missing


def _resolved(*words: str) -> dict[str, Any]:
    """pip's report. Raises CalledProcessError when it finds no answer."""
    with tempfile.TemporaryDirectory(prefix="crowdd-constraints-") as folder:
        report = Path(folder) / "report.json"
        command = ["install", "--quiet", "--dry-run", "--ignore-installed", "--report", str(report), "--target", folder]
        program = [sys.executable, "-m", "pip", *command, *words]
        subprocess.run(program, check=True, capture_output=True, text=True, timeout=SECONDS)
        return dict(json.loads(report.read_text("utf-8")))


def _elsewhere(python: str, machine: str, packages: Sequence[str]) -> dict[str, Pin]:
    """The files for another Python and machine; packages that have none there are told and left out."""
    platforms = [word for glibc in GLIBCS for word in ("--platform", f"{glibc}_{machine}")]
    target = ["--no-deps", "--only-binary=:all:", "--implementation", "cp", "--python-version", python, *platforms]
    try:
        return pins(_resolved(*target, *packages))
    except subprocess.CalledProcessError:
        if len(packages) == 1:
            click.echo(f"No file of {packages[0]} for Python {python} on {machine}.", err=True)
            return {}
    half = len(packages) // 2
    return _elsewhere(python, machine, packages[:half]) | _elsewhere(python, machine, packages[half:])


@click.command()
@click.option("--check", is_flag=True, help="Say whether the file has all requirements, and change nothing.")
def main(check: bool) -> None:
    """Write etc/constraints.txt."""
    requirements = wanted()
    if check:
        missing = unpinned(read(FILE.read_text("utf-8")), requirements)
        raise SystemExit(f"Not in {FILE.name}: {', '.join(missing)}. Run: make constraints" if missing else 0)
    report = _resolved(*requirements)
    first = pins(report)
    exact = [f"{canonicalize_name(name)}=={first[canonicalize_name(name)].version}" for name in compiled(report)]
    others = [_elsewhere(python, machine, exact) for python in PYTHONS for machine in MACHINES]
    FILE.write_text(written(merged(first, others)), "utf-8")
    click.echo(f"{len(first)} packages in {FILE}")


if __name__ == "__main__":
    main()
