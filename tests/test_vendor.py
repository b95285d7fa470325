"""Libraries of others in crowdd/http/static/vendor: each file is the recorded one, and no other package is taken."""

from __future__ import annotations

import io
import tarfile

import attrs
import click
import pytest

from bench.release import vendor


def archive(**files: bytes) -> bytes:
    """An npm package with these files."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as opened:
        for name, content in files.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(content)
            opened.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def test_every_file_has_its_recorded_checksum_and_licence():
    contents = vendor.present()
    named = {f"{package.folder}/{target}" for package in vendor.PACKAGES for target in package.sources}
    assert contents.keys() == named, "run: make vendor"
    assert vendor.table(contents) == vendor.README.read_text("utf-8"), "run: make vendor"
    changed = {**contents, min(contents): b"changed"}
    assert vendor.table(changed) != vendor.README.read_text("utf-8")
    assert all(contents[f"{package.folder}/{vendor.LICENCE}"] for package in vendor.PACKAGES)
    assert "://" not in vendor.README.read_text("utf-8")  # npm finds packages by their names


def test_a_package_with_another_checksum_is_refused(tmp_path):
    content = archive(LICENSE=b"Free.", script=b"1")
    package = vendor.Package("one", "1.0", "sha512-other", "MIT", "LICENSE", {"script": "one.js"}, "")
    with pytest.raises(click.ClickException, match="sha512-other") as refused:
        vendor.unpacked(package, content, tmp_path)
    right = attrs.evolve(package, integrity=refused.value.message.partition("got ")[2].rstrip(")."))
    assert vendor.unpacked(right, content, tmp_path) == {"one-1.0/LICENSE.txt": b"Free.", "one-1.0/one.js": b"1"}
