"""Pinned versions and the bill of materials: they are whole, name no index, and pip takes nothing else."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from support.checks.proofs import examples

from bench.release import constraints, sbom
from bench.release.constraints import FILE, Pin, merged, pins, read, unpinned, wanted, written
from bench.release.vendor import PACKAGES

PINS = read(FILE.read_text("utf-8"))


def test_every_requirement_is_pinned_with_hashes():
    assert unpinned(PINS, wanted()) == [], "run: make constraints"
    assert all(pin.hashes for pin in PINS.values())
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for pin in PINS.values() for digest in pin.hashes)


def test_the_file_names_no_index():
    text = FILE.read_text("utf-8")
    assert "://" not in text and not re.search(r"^\s*-(-index|-extra|-find|i |f )", text, re.MULTILINE)
    assert written([PINS[name] for name in sorted(PINS)]) == text


def test_a_requirement_that_no_pin_meets_is_told():
    packages = {"attrs": Pin("attrs", "26.1.0", ("ab",))}
    assert unpinned(packages, ["attrs>=24", "Klein>=24", "attrs<20"]) == ["Klein>=24", "attrs<20"]


def report(**files):
    return {
        "install": [
            {
                "metadata": {"name": name, "version": version},
                "download_info": {"url": f"x/{file}", "archive_info": {"hashes": {"sha256": digest}}},
            }
            for name, (version, file, digest) in files.items()
        ]
    }


def test_files_of_other_platforms_add_their_hashes():
    here = report(
        Pillow=("12.0", "pillow-12.0-cp311-cp311-manylinux.whl", "aa"), six=("1.0", "six-py3-none-any.whl", "cc")
    )
    elsewhere = report(pillow=("12.0", "pillow-12.0-cp313-cp313-manylinux.whl", "bb"))
    other = report(pillow=("11.0", "pillow-11.0-cp313-cp313-manylinux.whl", "dd"))
    assert constraints.compiled(here) == ["Pillow"]
    combined = merged(pins(here), [pins(elsewhere), pins(other)])
    assert combined == [Pin("pillow", "12.0", ("aa", "bb")), Pin("six", "1.0", ("cc",))]
    assert read(written(combined)) == {pin.name: pin for pin in combined}


@examples("another hash")
@pytest.mark.parametrize(("digest", "works"), [(None, True), ("0" * 64, False)], ids=["its hash", "another hash"])
def test_pip_refuses_a_file_with_another_hash(tmp_path, digest, works):
    """With a package of our own, so that no index is asked."""
    folder = tmp_path / "package"
    folder.mkdir()
    (folder / "setup.py").write_text("from setuptools import setup; setup(name='ours', version='1.0', py_modules=[])")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    made = [*pip, "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(tmp_path), str(folder)]
    subprocess.run(made, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    if digest is None:
        output = subprocess.run([*pip, "hash", str(wheel)], check=True, capture_output=True, text=True).stdout
        digest = output.rpartition("sha256:")[2].strip()
    file = tmp_path / "constraints.txt"
    file.write_text(written([Pin("ours", "1.0", (digest,))]))
    command = [
        *pip,
        "install",
        "--require-hashes",
        "--no-index",
        "--find-links",
        str(tmp_path),
        "--target",
        str(tmp_path / "to"),
    ]
    done = subprocess.run([*command, "-r", str(file)], capture_output=True, text=True)
    assert (done.returncode == 0) is works, done.stderr
    assert works or "hashes" in done.stderr.lower()


def test_the_image_takes_only_known_hashes():
    text = (constraints.ROOT / "Dockerfile").read_text("utf-8")
    assert "pip install --no-cache-dir --require-hashes -r etc/constraints.txt" in text
    assert "--no-deps --no-build-isolation ." in text and text.count("pip install") == 2


def test_the_bill_of_materials_has_every_pin(tmp_path):
    path = tmp_path / "crowdd.cdx.json"
    sbom.main.callback(path)
    bill = json.loads(path.read_text("utf-8"))
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    assert bill["metadata"]["component"]["name"] == "crowdd"
    assert {part["purl"] for part in bill["components"]} == {
        *(f"pkg:pypi/{pin.name}@{pin.version}" for pin in PINS.values()),
        *(f"pkg:npm/{package.name.replace('@', '%40')}@{package.version}" for package in PACKAGES),
    }
    assert all(part["hashes"] for part in bill["components"])
    (root,) = [each for each in bill["dependencies"] if each["ref"].startswith("crowdd@")]
    assert len(root["dependsOn"]) == len(PINS) + len(PACKAGES)
