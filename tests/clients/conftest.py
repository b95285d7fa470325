"""Clients that people already have, unmodified."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def pbs() -> Path:
    """The command ``pbs``, in an environment of its own: it wants a click that is older than ours.

    Kept below var/ from run to run.
    """
    folder = ROOT / "var" / "test-clients" / "pybossa-pbs-3.0.0"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests of several processes want it at once
        if not (folder / "complete").exists():
            _install(folder)
    return folder / "bin" / "pbs"


def _install(folder: Path) -> None:
    # A pip of its own would take longer than the packages.
    subprocess.run([sys.executable, "-m", "venv", "--clear", "--without-pip", str(folder)], check=True)
    # Its command asks pkg_resources for its version, which later setuptools no longer have.
    packages = ["pybossa-pbs==3.0.0", "setuptools<81"]
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install", "--no-compile"]
    install = [*pip, "-qq", "--disable-pip-version-check", *packages]
    subprocess.run(install, check=True, timeout=300)
    (folder / "complete").touch()
