"""Refuses a release that is made of container images without digests: a tag may name another image tomorrow.

    make images                 (python -m bench.release.images [--env FILE])

Dockerfile and compose.yaml have a variable for each image, with a tag as its default. A release sets all of them to
``image:tag@sha256:...``, in the environment or in ``.env``, where docker compose reads them, too. Asks no registry:
docs/operations.md, Images by digest, says how to look digests up.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

import click

from bench.release.constraints import ROOT

_DEFAULTS = {
    "Dockerfile": re.compile(r"^ARG (\w+_IMAGE)=(\S+)$", re.MULTILINE),
    "compose.yaml": re.compile(r"\$\{(\w+_IMAGE):-([^}]+)\}"),
}
_DIGEST = re.compile("@sha256:[0-9a-f]{64}")


def defaults(root: Path = ROOT) -> dict[str, str]:
    """The variables of images, and the tags that stand for them while nobody sets them."""
    return {
        name: image
        for file, pattern in _DEFAULTS.items()
        for name, image in pattern.findall((root / file).read_text("utf-8"))
    }


def read(text: str) -> dict[str, str]:
    """The variables of an .env file."""
    lines = (line.partition("=") for line in text.splitlines() if "=" in line and not line.startswith("#"))
    return {name.strip(): value.strip() for name, _, value in lines}


def unfixed(images: Mapping[str, str], variables: Mapping[str, str]) -> list[str]:
    """What a release lacks: a sentence for each image that has no digest, or is another one than was tested."""
    sentences = []
    for name, image in images.items():
        value = variables.get(name, "")
        if not _DIGEST.fullmatch(value.removeprefix(image)) or not value.startswith(image):
            sentences.append(f"{name} must be {image}@sha256: and 64 hexadecimal digits (got {value or 'nothing'}).")
    return sentences


@click.command()
@click.option("--env", type=click.Path(path_type=Path), default=ROOT / ".env", help="The file with the variables.")
def main(env: Path) -> None:
    """Check that every image of a release is named by its digest."""
    variables = {**(read(env.read_text("utf-8")) if env.is_file() else {}), **os.environ}
    missing = unfixed(defaults(), variables)
    click.echo("\n".join(missing) or "Every image is named by its digest.")
    sys.exit(bool(missing))


if __name__ == "__main__":
    main()
