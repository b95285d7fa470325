"""The wheel of the client: built, installed into an empty environment, and used there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import crowdd_client
import httpx
import pytest
from support.servers.building import ROOT, built

SOURCE = ROOT / "clients" / "python"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The wheel, made of a copy of the sources."""
    folder = tmp_path_factory.mktemp("client")
    left_out = shutil.ignore_patterns("__pycache__", "*.egg-info", "build")
    shutil.copytree(SOURCE, folder / "python", ignore=left_out)
    return built("wheel", folder / "python", folder)


def test_it_has_every_file_and_says_what_it_needs(wheel):
    with zipfile.ZipFile(wheel) as archive:
        files = {name for name in archive.namelist() if ".dist-info/" not in name}
        (metadata,) = [archive.read(name).decode() for name in archive.namelist() if name.endswith("METADATA")]
        (licence,) = [archive.read(name) for name in archive.namelist() if name.endswith("licenses/LICENSE")]
    assert files == {
        str(path.relative_to(SOURCE / "src"))
        for path in (SOURCE / "src").rglob("*")
        if path.suffix in (".py", ".typed")
    }
    needed = [
        line.removeprefix("Requires-Dist: ") for line in metadata.splitlines() if line.startswith("Requires-Dist")
    ]
    assert [line for line in needed if "extra" not in line] == ["httpx<1,>=0.27"]
    assert licence == (ROOT / "LICENSE").read_bytes() and wheel.name.endswith("-py3-none-any.whl")


def test_it_works_where_nothing_else_is_installed(wheel, tmp_path, owner):
    """In an environment of its own, whose httpx is that of the tests; pandas is not there, and that is told."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        tmp_path / "venv" / "bin" / "python",
        "-q",
        "--disable-pip-version-check",
    ]
    subprocess.run([*pip, "install", "--no-deps", "--no-index", wheel], check=True)
    environment = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
    program = f"""
import sys
sys.path.append({str(Path(httpx.__file__).parents[1])!r})
import crowdd_client
assert {str(tmp_path)!r} in crowdd_client.__file__, crowdd_client.__file__
client = crowdd_client.Client({owner.url!r}, {owner.key!r})
project = client.create_project({owner.name!r}, {owner.name!r})
print(crowdd_client.__version__, project.add_tasks([{{"n": 1}}]), len(list(project.tasks())))
"""
    command = [tmp_path / "venv" / "bin" / "python", "-c", program]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == f"{crowdd_client.__version__} 1 rows = 1 added + 0 refused 1\n", done.stderr
