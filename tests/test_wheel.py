"""The wheel and the source distribution have what they must; ``make wheel`` installs and runs it."""

from __future__ import annotations

import hashlib
import subprocess
import zipfile
from collections.abc import Iterator
from email.parser import HeaderParser
from pathlib import Path

import pytest
from click.testing import CliRunner
from packaging.requirements import Requirement
from support.servers.building import PARTS, ROOT, built, copied

from bench.release import audit, release


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the source distribution has."""
    folder = tmp_path_factory.mktemp("source")
    source = built("sdist", copied(tmp_path_factory.mktemp("checkout")), folder)
    subprocess.run(["tar", "-xzf", source, "-C", folder], check=True)  # tarfile has filters only from Python 3.11.4 on
    return folder / source.name.removesuffix(".tar.gz")


@pytest.fixture(scope="module")
def wheel(unpacked: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[zipfile.ZipFile]:
    """The wheel that it makes, opened. docs/test_install.py makes one of the checkout and installs it."""
    with zipfile.ZipFile(built("wheel", unpacked, tmp_path_factory.mktemp("wheel"))) as archive:
        yield archive


# What pages for operators tell them to copy or to read.
NEEDED_BY_OPERATORS = (
    "deploy/ha/etcd.env", "deploy/ha/patroni.yml", "deploy/nodes/haproxy.cfg", "docs/operations.md",
    "docs/operating/high-availability.md", "etc/crowdd.service", "etc/crowdd-doctor.timer", "etc/crowdd-drill.timer",
    "etc/prometheus-alerts.yml", "etc/grafana-dashboard.json",
)  # fmt: skip


def files(folder: Path) -> set[str]:
    """What lies in the checkout below a folder, apart from what Python and twistd leave there."""
    left = {"__pycache__", "dropin.cache"}
    return {str(path.relative_to(ROOT)) for path in folder.rglob("*") if path.is_file() and not left & {*path.parts}}


@pytest.mark.proof
def test_the_wheel_has_every_file_of_the_packages_and_no_other(wheel):
    names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    shipped = {f"crowdd/shipped/{name}" for folder in ("etc", "examples", "deploy") for name in files(ROOT / folder)}
    shipped |= {f"crowdd/shipped/{name}" for name in files(ROOT / "docs") if name.endswith((".md", ".json", ".png"))}
    assert {f"crowdd/shipped/{name}" for name in NEEDED_BY_OPERATORS} <= shipped
    assert names == files(ROOT / "crowdd") | shipped | {"twisted/plugins/crowdd_plugin.py"}


@pytest.mark.proof
def test_the_wheel_is_for_every_machine_and_has_the_command(wheel):
    (name,) = [name for name in wheel.namelist() if name.endswith("entry_points.txt")]
    assert wheel.read(name).decode().split() == ["[console_scripts]", "crowdctl", "=", "crowdd.admin_cli.main:main"]
    (name,) = [name for name in wheel.namelist() if name.endswith(".dist-info/WHEEL")]
    assert "Tag: py3-none-any" in wheel.read(name).decode()


@pytest.mark.proof
def test_the_licence_comes_along_whole(wheel):
    (name,) = [name for name in wheel.namelist() if name.endswith(".dist-info/licenses/LICENSE")]
    text = wheel.read(name)
    assert text == (ROOT / "LICENSE").read_bytes()
    # The text as the Free Software Foundation publishes it: nobody may change it.
    assert hashlib.sha256(text).hexdigest() == "8486a10c4393cee1c25392769ddd3b2d6c242d6ec7928e1414efff7dfb2f07ef"


def test_a_package_that_could_not_be_looked_up_is_no_clean_bill():
    fine, unknown = {"name": "fine", "version": "1", "vulns": []}, {"name": "unknown", "skip_reason": "nobody answers"}
    hole = {"name": "sieve", "version": "2", "vulns": [{"id": "PYSEC-1", "fix_versions": ["2.1"]}]}
    assert audit.judge([fine, {"name": "crowdd", "skip_reason": "not found"}])[0] == audit.CLEAN
    status, lines = audit.judge([fine, unknown])
    assert status == audit.UNKNOWN and "NOT looked up, so nothing is known of them: unknown." in lines
    status, lines = audit.judge([fine, unknown, hole])
    assert status == audit.HOLES and "sieve 2: PYSEC-1 (mended in 2.1)" in lines
    assert audit.judge([])[0] == audit.UNKNOWN


@pytest.mark.proof
def test_the_source_distribution_has_every_part(unpacked):
    assert {path.name for path in unpacked.iterdir()} >= {*PARTS}


@pytest.mark.proof
def test_every_requirement_has_bounds(wheel):
    """A version that nobody has tried must not come by itself, nor one that is too old."""
    (name,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    lines = HeaderParser().parsestr(wheel.read(name).decode()).get_all("Requires-Dist")
    assert len(lines) > 20
    for line in lines:
        requirement = Requirement(line)
        signs = {specifier.operator for specifier in requirement.specifier}
        build_only = requirement.name == "setuptools"
        assert signs >= {">=", "<"} or signs == {"=="} or build_only, line


@pytest.mark.proof
def test_a_release_is_the_same_each_time_and_lists_its_files(tmp_path):
    done = CliRunner().invoke(release.main, ["--draft", "--to", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "W0" not in done.output and "twine" not in done.output.replace("twine and check-wheel-contents cannot", "")
    names = {path.name for path in tmp_path.iterdir()}
    version = release.__version__
    assert names == {
        f"crowdd-{version}-py3-none-any.whl", f"crowdd-{version}.tar.gz", f"crowdd-{version}.cdx.json", "notes.md", "SHA256SUMS",
    }  # fmt: skip
    for line in (tmp_path / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() == digest
    again = CliRunner().invoke(release.main, ["--draft", "--to", str(tmp_path)])
    assert again.exit_code == 1 and "is not empty" in again.output


@pytest.mark.proof
def test_a_wheel_that_is_none_is_named(tmp_path):
    """One with a file of byte code, and one whose description cannot be read; they are not looked over offline."""
    wheel = tmp_path / "crowdd-0.1-py3-none-any.whl"
    contents = {
        "crowdd/__init__.pyc": "",
        "crowdd-0.1.dist-info/METADATA": "Metadata-Version: 2.1\nName: crowdd\nVersion: 0.1\n",
        "crowdd-0.1.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "crowdd-0.1.dist-info/RECORD": "",
    }
    record = "".join(f"{name},,\n" for name in contents)
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in contents.items():
            archive.writestr(name, record if name.endswith("RECORD") else text)
    words = "\n".join(release.complaints([wheel], tmp_path))
    if "cannot be installed" in words:
        pytest.skip(words)
    assert "long_description" in words and "crowdd/__init__.pyc" in words, words


def test_what_must_not_be_released_is_refused(tmp_path):
    refused = CliRunner().invoke(release.main, ["--to", str(tmp_path / "dist")])
    assert refused.exit_code == 1 and "Nothing was built." in refused.output
    assert not (tmp_path / "dist").exists()
    assert "CHANGELOG.md has no section 9.9.9 at its top." in " ".join(release.objections("9.9.9"))
