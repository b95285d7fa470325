"""What crowdd is installed with, as a software bill of materials (CycloneDX, JSON).

    make sbom                   (python -m bench.release.sbom [--to FILE])

The components are the pins of etc/constraints.txt with their hashes, those of the extras as optional ones, and the npm
packages whose files the browser gets (bench/release/vendor.py). Licences of pins come from what is installed here.
"""

from __future__ import annotations

import base64
import contextlib
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

import click
from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from bench.release.constraints import BASE, BUILD, DEVELOPMENT, ROOT, Pin, pinned, wanted
from bench.release.vendor import PACKAGES, Package

USUAL = ROOT / "crowdd.cdx.json"
_MAX_LICENCE = 100  # characters; some packages give their whole licence in place of its name


def bill(required: Mapping[str, Pin], optional: Mapping[str, Pin]) -> Bom:
    """The bill of a crowdd with these packages, and with the libraries for browsers that it always has."""
    bom = Bom()
    root = _component("crowdd", metadata.version("crowdd"), ComponentType.APPLICATION, ())
    parts = [_package(pin, ComponentScope.REQUIRED) for pin in required.values()]
    parts += [_package(pin, ComponentScope.OPTIONAL) for pin in optional.values()]
    parts += [_library(package) for package in PACKAGES]
    bom.metadata.component = root
    for part in parts:
        bom.components.add(part)
        bom.register_dependency(part)
    bom.register_dependency(root, parts)
    return bom


def of_extras() -> dict[str, Pin]:
    """What the extras of servers add to crowdd, by name."""
    extras = {*wanted()} - {BASE, BUILD} - DEVELOPMENT
    base = pinned(BASE)
    return {name: pin for extra in sorted(extras) for name, pin in pinned(extra).items() if name not in base}


def _package(pin: Pin, scope: ComponentScope) -> Component:
    component = _component(pin.name, pin.version, ComponentType.LIBRARY, pin.hashes)
    component.scope = scope
    return component


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
    made = bill(pinned(BASE), of_extras())
    path.write_text(JsonV1Dot6(made).output_as_string(indent=2) + "\n", "utf-8")
    click.echo(f"{len(made.components)} components in {path}")


if __name__ == "__main__":
    main()
