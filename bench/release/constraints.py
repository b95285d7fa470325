"""Pins what crowdd and its extras need, with hashes: writes etc/constraints.txt and etc/constraints-EXTRA.txt.

    make constraints            (python -m bench.release.constraints [--check])

pip resolves what setup.py and pyproject.toml ask for (``pip install --dry-run --report``), all of it at once, so that
extras fit together, for the Python that runs this; use the oldest supported one, whose markers ask for most. For
packages with compiled parts it is asked for the files of every supported Python and platform, too. The file of an extra
has what it needs besides crowdd itself; ``constraints-build.txt`` has what builds crowdd and the packages that come as
source. The files name no index: pip takes packages from wherever it is configured to, and refuses those with other
hashes. ``--check`` only says whether the files have all requirements.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import click
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
PYTHONS = ("3.11", "3.12", "3.13")
MACHINES = ("x86_64", "aarch64")
PLATFORMS = tuple(f"{python}-{machine}-glibc" for python in PYTHONS for machine in MACHINES)
BASE, BUILD = "", "build"  # beside the extras: what crowdd needs, and what builds it
DEVELOPMENT = frozenset({"docs", "release", "test"})  # extras that no server is installed with
HEAD = f"""\
# Made by: make constraints. How to use it: docs/operations.md, Pinned versions and bill of materials
# For {" ".join(PLATFORMS)}
"""
NEWEST_GLIBC = "manylinux_2_34"
GLIBCS = ("manylinux_2_28", "manylinux_2_26", "manylinux_2_17", "manylinux2014")
PIP = "pip>=25.3"
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


def file_of(part: str) -> Path:
    """Where the pins of a part are: of crowdd itself, of an extra, or of what builds it."""
    return ROOT / "etc" / f"constraints{part and '-'}{part}.txt"


def wanted() -> dict[str, list[str]]:
    """The requirements by part: of crowdd itself, of each extra, and of what builds it."""
    captured = subprocess.run(
        [sys.executable, "-c", _SETUP], cwd=ROOT, check=True, capture_output=True, text=True, timeout=SECONDS
    )
    asked = json.loads(captured.stdout)
    build = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["build-system"]["requires"]
    return {BASE: asked["install_requires"], BUILD: build, **asked["extras_require"]}


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


def needed(report: Mapping[str, Any], requirements: Iterable[str]) -> set[str]:
    """The packages that requirements lead to on any supported platform, by name.

    Raises LookupError for one that the report does not have, because this Python does not need it.
    """
    packages = {canonicalize_name(item["metadata"]["name"]): item["metadata"] for item in report["install"]}
    open_requirements, names = [*map(Requirement, requirements)], set[tuple[str, str]]()
    while open_requirements:
        requirement = open_requirements.pop()
        name = canonicalize_name(requirement.name)
        if name not in packages:
            raise LookupError(f"Another supported platform needs {requirement}. Add it to the requirements.")
        for extra in {"", *requirement.extras} - {extra for known, extra in names if known == name}:
            names.add((name, extra))
            lines = map(Requirement, packages[name].get("requires_dist", ()))
            open_requirements += [line for line in lines if applies(line, extra)]
    return {name for name, _ in names}


def applies(requirement: Requirement, extra: str = "") -> bool:
    """Whether a requirement of a package holds on any supported platform, with this extra of the package."""
    marker = requirement.marker
    return marker is None or any(
        marker.evaluate({"python_version": p, "python_full_version": f"{p}.0", "platform_machine": m, "extra": extra})
        for p in PYTHONS
        for m in MACHINES
    )


def merged(first: Mapping[str, Pin], others: Iterable[Mapping[str, Pin]]) -> list[Pin]:
    """The first pins with the hashes of all, by name."""
    hashes = {name: {*pin.hashes} for name, pin in first.items()}
    for other in others:
        for name, pin in other.items():
            if pin.version == first[name].version:
                hashes[name].update(pin.hashes)
    return [attrs.evolve(first[name], hashes=tuple(sorted(hashes[name]))) for name in sorted(first)]


def written(packages: Iterable[Pin]) -> str:
    """The text of a file."""
    return HEAD + "".join(pin.lines() for pin in packages)


def read(text: str) -> dict[str, Pin]:
    """The pins of a file."""
    pins_by_name = {}
    for line in re.sub(r"\\\n", " ", text).splitlines():
        words = line.split()
        if words and not line.startswith("#"):
            name, _, version = words[0].partition("==")
            pins_by_name[name] = Pin(name, version, tuple(w.removeprefix("--hash=sha256:") for w in words[1:]))
    return pins_by_name


def pinned(part: str) -> dict[str, Pin]:
    """What is installed for a part: the pins of crowdd itself, and those that the part adds."""
    return {name: pin for each in {BASE, part} for name, pin in read(file_of(each).read_text("utf-8")).items()}


def unpinned(packages: Mapping[str, Pin], requirements: Iterable[str]) -> list[str]:
    """The requirements that no pin meets."""
    missing = []
    for line in requirements:
        requirement = Requirement(line)
        pin = packages.get(canonicalize_name(requirement.name))
        if pin is None or not requirement.specifier.contains(Version(pin.version), prereleases=True):
            missing.append(line)
    return missing


@contextlib.contextmanager
def _current_pip() -> Iterator[None]:
    """A pip that reads metadata where that of this Python would download whole packages."""
    with tempfile.TemporaryDirectory(prefix="crowdd-pip-") as folder:
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--target", folder, PIP]
        subprocess.run(install, check=True, capture_output=True, timeout=SECONDS)
        os.environ["PYTHONPATH"] = folder
        yield


def _resolved(*words: str) -> dict[str, Any]:
    """pip's report. Raises CalledProcessError when it finds no answer."""
    with tempfile.TemporaryDirectory(prefix="crowdd-constraints-") as folder:
        report = Path(folder) / "report.json"
        command = ["install", "--quiet", "--dry-run", "--ignore-installed", "--report", str(report), "--target", folder]
        program = [sys.executable, "-m", "pip", *command, *words]
        subprocess.run(program, check=True, capture_output=True, text=True, timeout=SECONDS)
        return dict(json.loads(report.read_text("utf-8")))


def _elsewhere(python: str, machine: str, packages: Sequence[str]) -> list[dict[str, Pin]]:
    """The files for another Python and machine, with a current glibc and with an earlier one where they differ.

    Packages that have no file there are told and left out.
    """
    report = _for(python, machine, (NEWEST_GLIBC, *GLIBCS), packages)
    files = {i["metadata"]["name"]: i["download_info"]["url"].rpartition("/")[2] for i in report["install"]}
    lines = {canonicalize_name(line.partition("==")[0]): line for line in packages}
    newest = [lines[canonicalize_name(name)] for name, file in files.items() if NEWEST_GLIBC in file]
    return [pins(report), pins(_for(python, machine, GLIBCS, newest))]


def _for(python: str, machine: str, glibcs: Sequence[str], packages: Sequence[str]) -> dict[str, Any]:
    platforms = [word for glibc in glibcs for word in ("--platform", f"{glibc}_{machine}")]
    target = ["--no-deps", "--only-binary=:all:", "--implementation", "cp", "--python-version", python, *platforms]
    if not packages:
        return {"install": []}
    try:
        return _resolved(*target, *packages)
    except subprocess.CalledProcessError:
        if len(packages) == 1:
            click.echo(f"No file of {packages[0]} for Python {python} on {machine} with {glibcs[0]}.", err=True)
            return {"install": []}
    half = len(packages) // 2
    parts = [_for(python, machine, glibcs, each) for each in (packages[:half], packages[half:])]
    return {"install": [item for part in parts for item in part["install"]]}


@click.command()
@click.option("--check", is_flag=True, help="Say whether the files have all requirements, and change nothing.")
def main(check: bool) -> None:
    """Write the files with the pins."""
    parts = wanted()
    if check:
        missing = [line for part, lines in parts.items() for line in unpinned(pinned(part), lines)]
        raise SystemExit(f"Not pinned: {', '.join(missing)}. Run: make constraints" if missing else 0)
    with _current_pip():
        report = _resolved(*(line for lines in parts.values() for line in lines))
        first = pins(report)
        exact = [f"{canonicalize_name(name)}=={first[canonicalize_name(name)].version}" for name in compiled(report)]
        others = [each for python in PYTHONS for machine in MACHINES for each in _elsewhere(python, machine, exact)]
    whole = {pin.name: pin for pin in merged(first, others)}
    base = needed(report, parts[BASE])
    for part, lines in parts.items():
        names = base if part == BASE else needed(report, lines) - base
        file_of(part).write_text(written([whole[name] for name in sorted(names)]), "utf-8")
        click.echo(f"{len(names)} packages in {file_of(part)}")


if __name__ == "__main__":
    main()
