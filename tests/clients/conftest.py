"""Clients that people already have, unmodified."""

from __future__ import annotations

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
    command = folder / "bin" / "pbs"
    complete = folder / "complete"
    if not complete.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        # Its command asks pkg_resources for its version, which later setuptools no longer have.
        packages = ["pybossa-pbs==3.0.0", "setuptools<81"]
        install = [str(folder / "bin" / "pip"), "install", "-qq", "--disable-pip-version-check", *packages]
        subprocess.run(install, check=True, timeout=300)
        complete.touch()
    return command
