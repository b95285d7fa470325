"""The files of a release: ``make release``.

    python -m bench.release.release [--to dist] [--draft]

Builds the source distribution and the wheel of what is committed, twice in different folders, and compares them byte by
byte. twine and check-wheel-contents look over them, from an environment of their own. Beside them lie the bill of
materials, the notes of the changelog and ``SHA256SUMS``. What a release must not have is refused: changes that are not
committed, lines in changes/, a version that the changelog calls unreleased, container images without a digest, files
that were not looked over. ``--draft`` only names these.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click
from cyclonedx.output.json import JsonV1Dot6

from bench.release import images, sbom
from bench.release.constraints import BASE, ROOT, file_of, pinned
from crowdd import __version__

_SECTION: Final = re.compile(r"^## (\S+)(.*)\n((?:(?!## ).*\n?)*)", re.M)


def git(*words: str) -> str:
    """What git prints."""
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def objections(version: str) -> Iterator[str]:
    """What keeps this version from being released, with what to do."""
    if git("status", "--porcelain"):
        yield "There are changes that are not committed. Commit them."
    waiting = sorted(path.name for path in (ROOT / "changes").glob("*.md") if path.name != "README.md")
    if waiting:
        yield f"changes/ has {', '.join(waiting)}. Move their lines to CHANGELOG.md and remove the files."
    newest = _SECTION.search((ROOT / "CHANGELOG.md").read_text())
    if newest is None or newest[1] != version:
        yield f"CHANGELOG.md has no section {version} at its top. Write it, or set the version in crowdd/__init__.py."
    elif "unreleased" in newest[2]:
        yield f"CHANGELOG.md calls {version} unreleased. Give it its date."
    yield from images.unfixed(images.defaults(), os.environ)


def notes(version: str) -> str:
    """What the changelog says of a version, and of changes that wait for one."""
    sections = {each[1]: each[3].strip() for each in _SECTION.finditer((ROOT / "CHANGELOG.md").read_text())}
    waiting = [p.read_text().strip() for p in sorted((ROOT / "changes").glob("*.md")) if p.name != "README.md"]
    return f"# crowdd {version}\n\n" + "\n".join(filter(None, [sections.get(version, ""), *waiting])) + "\n"


def build(place: Path, seconds: str) -> list[Path]:
    """The source distribution of what is committed, and the wheel that is made of it, with this time in all files."""
    checkout, made = place / "checkout", place / "dist"
    checkout.mkdir()
    made.mkdir()
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x", "-C", str(checkout)], input=archive, check=True)
    pages = [sys.executable, "-c", "from crowdd.admin_cli.main import main; main()", "man", str(checkout / "man")]
    subprocess.run(pages, check=True, capture_output=True, env={**os.environ, "SOURCE_DATE_EPOCH": seconds})
    source = same_each_time(_built("sdist", checkout, place, seconds), made, int(seconds))
    subprocess.run(["tar", "-xzf", str(source), "-C", str(place)], check=True)
    return [source, _built("wheel", place / source.name.removesuffix(".tar.gz"), made, seconds)]


def _built(kind: str, folder: Path, target: Path, seconds: str) -> Path:
    code = f"from setuptools import build_meta; print(build_meta.build_{kind}({str(target)!r}))"
    environment = {**os.environ, "SOURCE_DATE_EPOCH": seconds}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, check=False, capture_output=True, text=True
    )
    if done.returncode:
        raise click.ClickException(f"The {kind} cannot be built:\n{done.stdout}{done.stderr}")
    return target / done.stdout.splitlines()[-1]


def same_each_time(archive: Path, folder: Path, seconds: int) -> Path:
    """The same archive in ``folder``, with its files in the order of their names and with one owner and time."""
    path = folder / archive.name
    with (
        tarfile.open(archive) as given,
        path.open("wb") as file,
        gzip.GzipFile("", "wb", mtime=seconds, fileobj=file) as packed,
        tarfile.open(fileobj=packed, mode="w") as made,
    ):
        for member in sorted(given.getmembers(), key=lambda each: each.name):
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.mtime, member.pax_headers = seconds, {}
            made.addfile(member, given.extractfile(member) if member.isfile() else None)
    return path


def complaints(paths: list[Path], place: Path) -> Iterator[str]:
    """What twine and check-wheel-contents have against these files, or why they were not asked."""
    venv.create(place / "checks", with_pip=True)
    programs = place / "checks" / "bin"
    pip = [programs / "pip", "install", "-qq", "--disable-pip-version-check", "--require-hashes", "--only-binary=:all:"]
    for words in _asked([*pip, "-r", file_of(BASE), "-r", file_of("release")]):
        yield "The files were not looked over: twine and check-wheel-contents cannot be installed.\n" + words
        return
    wheels = [path for path in paths if path.suffix == ".whl"]
    configuration = ["--config", ROOT / "pyproject.toml"]
    yield from _asked([programs / "twine", "--no-color", "check", "--strict", *paths])
    yield from _asked([programs / "check-wheel-contents", *configuration, *wheels])


def _asked(command: list[str | Path]) -> list[str]:
    """What a program says when it ends with an error."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return [f"{done.stdout}{done.stderr}".strip()] if done.returncode else []


def sums(paths: list[Path]) -> str:
    """As ``sha256sum`` prints them."""
    return "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in paths)


@click.command(context_settings={"show_default": True})
@click.option("--to", "folder", type=click.Path(path_type=Path), default=ROOT / "dist", help="Where the files go.")
@click.option("--draft", is_flag=True, help="Build although something must not be released.")
def main(folder: Path, draft: bool) -> None:
    """Build and describe the files of a release."""
    against = list(objections(__version__))
    for each in against:
        click.echo(each, err=True)
    if against and not draft:
        raise click.ClickException("Nothing was built. --draft builds all the same.")
    if folder.exists() and any(folder.iterdir()):
        raise click.ClickException(f"{folder} is not empty. Remove it, or name another folder.")
    seconds = git("log", "-1", "--format=%ct").strip()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        click.echo("Building twice, and looking over it: one to three minutes")
        first, second = build(Path(one), seconds), build(Path(other), seconds)
        if sums(first) != sums(second):
            raise click.ClickException(f"Both builds differ:\n{sums(first)}{sums(second)}")
        wrong = [*complaints(first, Path(one))]
        click.echo("\n".join(wrong), err=True, nl=bool(wrong))
        if wrong and not draft:
            raise click.ClickException("Nothing was released.")
        made = [_copied(path, folder) for path in first]
    bill = sbom.bill(pinned(BASE), sbom.of_extras())
    made.append(folder / f"crowdd-{__version__}.cdx.json")
    made[-1].write_text(JsonV1Dot6(bill).output_as_string(indent=2) + "\n", "utf-8")
    made.append(folder / "notes.md")
    made[-1].write_text(notes(__version__), "utf-8")
    (folder / "SHA256SUMS").write_text(sums(made))
    click.echo(f"{folder}:\n{sums(made)}Sign SHA256SUMS, tag v{__version__}, and upload all of it.")


def _copied(path: Path, folder: Path) -> Path:
    target = folder / path.name
    target.write_bytes(path.read_bytes())
    return target


if __name__ == "__main__":
    main()
