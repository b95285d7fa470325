"""What crowdd is installed with, as a software bill of materials (CycloneDX, JSON).

    make sbom                   (python -m bench.release.sbom [--to FILE])

The components are the pins of etc/constraints.txt with their hashes, whose licences come from what is installed here,
and the npm packages whose files the browser gets (bench/release/vendor.py).
"""

from __future__ import annotations

import base64
import contextlib
from importlib import metadata
from pathlib import Path

import click
from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from bench.release.constraints import FILE, ROOT, Pin, read
from bench.release.vendor import PACKAGES, Package

USUAL = ROOT / "crowdd.cdx.json"
_MAX_LICENCE = 100  # characters; some packages give their whole licence in place of its name


def bill(pins: list[Pin]) -> Bom:
    """The bill of a crowdd with these packages, and with the libraries for browsers that it always has."""
    bom = Bom()
    root = _component("crowdd", metadata.version("crowdd"), ComponentType.APPLICATION, ())
    parts = [_component(pin.name, pin.version, ComponentType.LIBRARY, pin.hashes) for pin in pins]
    parts += [_library(package) for package in PACKAGES]
    bom.metadata.component = root
    for part in parts:
        bom.components.add(part)
        bom.register_dependency(part)
    bom.register_dependency(root, parts)
    return bom


def _component(name: str, version: str, sort: ComponentType, hashes: tuple[str, ...]) -> Component:
    licence = _licence(name)
    return Component(
        name=name,
        version=version,
        type=sort,
        bom_ref=f"{name}@{version}",
        purl=PackageURL("pypi", name=name, version=version),
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest) for digest in hashes],
        licenses=[LicenseFactory().make_from_string(licence)] if licence else [],
    )


def _library(package: Package) -> Component:
    digest = base64.b64decode(package.integrity.removeprefix("sha512-")).hex()
    return Component(
        name=package.name,
        version=package.version,
        type=ComponentType.LIBRARY,
        bom_ref=f"npm:{package.name}@{package.version}",
        purl=PackageURL("npm", name=package.name, version=package.version),
        hashes=[HashType(alg=HashAlgorithm.SHA_512, content=digest)],
        licenses=[LicenseFactory().make_from_string(package.licence)],
    )


def _licence(name: str) -> str:
    with contextlib.suppress(metadata.PackageNotFoundError):
        package_metadata = metadata.metadata(name)
        licence = package_metadata.get("License-Expression") or package_metadata.get("License") or ""
        return licence if len(licence) < _MAX_LICENCE and "\n" not in licence else ""
    return ""


@click.command()
@click.option("--to", "path", type=click.Path(path_type=Path), default=USUAL, help="The file to write.")
def main(path: Path) -> None:
    """Write the bill of materials."""
    pins = list(read(FILE.read_text("utf-8")).values())
    path.write_text(JsonV1Dot6(bill(pins)).output_as_string(indent=2) + "\n", "utf-8")
    click.echo(f"{len(pins) + len(PACKAGES)} components in {path}")


if __name__ == "__main__":
    main()
