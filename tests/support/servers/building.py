"""Builds crowdd's distributions from a copy of the checkout, so that nothing is left in it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
PARTS = (
    "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "MANIFEST.in", "Makefile", "README.md", "pyproject.toml",
    "setup.py", ".dockerignore", ".env.example", "CODE_OF_CONDUCT.md", "Dockerfile", "SECURITY.md", "compose.yaml",
    "bench", "changes", "clients", "crowdd", "deploy", "docs", "etc", "examples", "tests", "twisted",
)  # fmt: skip
_LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.egg-info", "_build", "reference", "dropin.cache", ".hypothesis")


def copied(folder: Path) -> Path:
    """A copy of what a checkout has."""
    for name in PARTS:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=_LEFT_OUT)
        else:
            shutil.copy2(source, folder / name)
    return folder


def built(kind: str, folder: Path, target: Path) -> Path:
    """The wheel or the sdist (``kind``) of a checkout, made with this Python's setuptools."""
    code = f"from setuptools import build_meta; print(build_meta.build_{kind}({str(target)!r}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return target / done.stdout.splitlines()[-1]
