"""The command ``pbs`` of the package pybossa-pbs."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.servers.forks import Warm

ROOT = Path(__file__).parents[3]
PBS_ENVIRONMENT = {"LC_ALL": "C.UTF-8", "LANG": "C.UTF-8", "PYTHONWARNINGS": "ignore"}


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


@pytest.fixture(scope="session")
def warm_pbs(pbs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warm]:
    """What runs it: importing takes it longer than its work."""
    made = Warm(tmp_path_factory.mktemp("pbs"), str(pbs.with_name("python")), ["pbs"], **PBS_ENVIRONMENT)
    yield made
    made.end()


def _install(folder: Path) -> None:
    # A pip of its own would take longer than the packages.
    subprocess.run([sys.executable, "-m", "venv", "--clear", "--without-pip", str(folder)], check=True)
    # Its command asks pkg_resources for its version, which later setuptools no longer have.
    packages = ["pybossa-pbs==3.0.0", "setuptools<81"]
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install", "--no-compile"]
    install = [*pip, "-qq", "--disable-pip-version-check", *packages]
    subprocess.run(install, check=True, timeout=300)
    (folder / "complete").touch()
