"""Libraries of others for browsers: takes them out of npm packages and writes crowdd/http/static/vendor.

    make vendor                 (python -m bench.release.vendor)

npm downloads each package by its name and version (``npm pack``), from wherever it is configured to. A package whose
SHA-512 is not the one that PACKAGES names is refused. To add a library or take a newer version: change PACKAGES, run
this, and look at the difference. It writes the named files, their licences, and the table of README.md with a SHA-256
for each file; tests/test_vendor.py compares that table with the files. Folders that PACKAGES does not name are removed.
"""

from __future__ import annotations

import base64
import hashlib
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path

import attrs
import click

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "crowdd" / "http" / "static" / "vendor"
README = FOLDER / "README.md"
LICENCE = "LICENSE.txt"
LICENCES = "bench/release/licences/"
SECONDS = 300


@attrs.frozen
class Package:
    """One npm package in one version.

    ``integrity`` is what npm calls so: ``sha512-`` and the digest of the archive in Base64. ``files`` maps a path in
    the package to one in our folder of it; ``licence_file`` is the path of its licence, below LICENCES where the
    package has none (the text is then the one of the project's source). ``licence`` is an SPDX id.
    """

    name: str
    version: str
    integrity: str
    licence: str
    licence_file: str
    files: Mapping[str, str]
    why: str

    @property
    def folder(self) -> str:
        """The name of our folder of it."""
        return f"{self.name.removeprefix('@').replace('/', '-')}-{self.version}"

    @property
    def sources(self) -> dict[str, str]:
        """Every path in our folder, with the path in the package."""
        return {LICENCE: self.licence_file, **{target: source for source, target in self.files.items()}}


PACKAGES = (
    Package(
        name="@annotorious/annotorious",
        version="3.8.10",
        integrity="sha512-s1tWrJp//tJNNu5qKzZilXooMKGwztUzWzWuTqwM2+xfUpsG/XimrgXGhfEuvD0Koy12NcBqNZ83bqg+iCossg==",
        licence="BSD-3-Clause",
        licence_file=f"{LICENCES}annotorious.txt",
        files={"dist/annotorious.js": "annotorious.js", "dist/annotorious.css": "annotorious.css"},
        why="draws marks on pictures (`questions/marks/drawing.js`)",
    ),
    Package(
        name="@geoman-io/leaflet-geoman-free",
        version="2.20.2",
        integrity="sha512-KQpSe0VKyuVCudq/08rMjJW1vvIwFldTwBny2wZ7ABcyyUAP7/eoFo967hCu9yRqAAHb4QOxC6gY5dGqttY68g==",
        licence="MIT",
        licence_file="LICENSE",
        files={
            "dist/leaflet-geoman.min.js": "leaflet-geoman.min.js",
            "dist/leaflet-geoman.css": "leaflet-geoman.css",
        },
        why="draws places and areas on maps (`questions/marks/map.js`)",
    ),
    Package(
        name="@recogito/text-annotator",
        version="4.1.1",
        integrity="sha512-kbbCt9SlMeKF7PcJRMFguf6m8UALwnYfnxHZmgvA3jkvd3hKYz+I4i6ZNLARXQ69cTs8Z/pkfOBTAawAbwgsdQ==",
        licence="BSD-3-Clause",
        licence_file=f"{LICENCES}text-annotator.txt",
        files={"dist/text-annotator.umd.js": "text-annotator.js", "dist/text-annotator.css": "text-annotator.css"},
        why="marks spans of texts (`questions/marks/text.js`)",
    ),
    Package(
        name="bootstrap",
        version="3.4.1",
        integrity="sha512-yN5oZVmRCwe5aKwzRj6736nSmKDX7pLYwsXiCj/EYmo16hODaBiT4En5btW/jhBF/seV+XMx3aYwukYC3A49DA==",
        licence="MIT",
        licence_file="LICENSE",
        files={
            f"dist/{path}": path
            for path in (
                "css/bootstrap.min.css",
                "fonts/glyphicons-halflings-regular.woff",
                "fonts/glyphicons-halflings-regular.woff2",
                "js/bootstrap.min.js",
            )
        },
        why="presenters call `.modal()` and `.tooltip()` and use its classes",
    ),
    Package(
        name="jquery",
        version="2.2.4",
        integrity="sha512-lBHj60ezci2u1v2FqnZIraShGgEXq35qCzMv4lITyHGppTnA13rwR0MgwyNJh9TnDs3aXUvd1xjAotfraMHX/Q==",
        licence="MIT",
        licence_file="LICENSE.txt",
        files={"dist/jquery.min.js": "jquery.min.js"},
        why="presenters call `img.load(fn)`, which jQuery 3 removed",
    ),
    Package(
        name="leaflet",
        version="1.9.4",
        integrity="sha512-nxS1ynzJOmOlHp+iL3FyWqK89GtNL8U8rvlMOsQdTTssxZwCXh8N2NB3GDQOL+YR3XnWyZAxwQixURb+FA74PA==",
        licence="BSD-2-Clause",
        licence_file="LICENSE",
        files={
            f"dist/{path}": path
            for path in (
                "leaflet.js",
                "leaflet.css",
                "images/marker-icon.png",
                "images/marker-icon-2x.png",
                "images/marker-shadow.png",
            )
        },
        why="shows maps (`questions/media/map.js`)",
    ),
    Package(
        name="openseadragon",
        version="6.1.1",
        integrity="sha512-g4iKe2q8B642SaBT3+x4ZF3/8b1TxPPydyjmtrOLgDrlYWMKd9ZXM+1Cb/xa9DVySkvs/7l6HR1nHKfD5F3Tsw==",
        licence="BSD-3-Clause",
        licence_file="LICENSE.txt",
        files={"build/openseadragon/openseadragon.min.js": "openseadragon.min.js"},
        why="zooms pictures; loaded when a volunteer or a question list first asks for it (`presenter/zoom.js`)",
    ),
    Package(
        name="protomaps-leaflet",
        version="5.1.0",
        integrity="sha512-N0YY1Gbw5nZ9n8VUOvwHKm/w3zhTTuaZEeMZl8doHemeM4ujGPp2otI6t4Sgqrz8iM4svx2rpG1Q17rHkOWSaA==",
        licence="BSD-3-Clause",
        licence_file="LICENSE",
        files={"dist/protomaps-leaflet.js": "protomaps-leaflet.js"},
        why="draws the map in the data folder of a site; loaded where a map shows it (`questions/media/map_file.js`)",
    ),
    Package(
        name="tus-js-client",
        version="4.3.1",
        integrity="sha512-ZLeYmjrkaU1fUsKbIi8JML52uAocjEZtBx4DKjRrqzrZa0O4MYwT6db+oqePlspV+FxXJAyFBc/L5gwUi2OFsg==",
        licence="MIT",
        licence_file="LICENSE",
        files={"dist/tus.min.js": "tus.min.js"},
        why="sends files of owners in parts (`upload/sending.js`); loaded on the page for media only",
    ),
    Package(
        name="wavesurfer.js",
        version="8.0.1",
        integrity="sha512-h0OnRWSVTqIYLSw3/IVrBtsun/xw9L5u4FA3bjfSDTFMX/xswVWS1JwK4fFu3ulmxRUSHg8zQORl6zENG983eg==",
        licence="BSD-3-Clause",
        licence_file="LICENSE",
        files={
            "dist/wavesurfer.esm.js": "wavesurfer.js",
            "dist/plugins/regions.esm.js": "regions.js",
            "dist/plugins/spectrogram.esm.js": "spectrogram.js",
        },
        why="draws sounds (`questions/media/line.js`) and marks segments (`questions/marks/time.js`)",
    ),
    Package(
        name="world-atlas",
        version="2.0.2",
        integrity="sha512-IXfV0qwlKXpckz1FhwXVwKRjiIhOnWttOskm5CtxMsjgE/MXAYRHWJqgXOpM8IkcPBoXnyTU5lFHcYa5ChG0LQ==",
        licence="ISC",
        licence_file="LICENSE",
        files={"countries-50m.json": "countries-50m.json", "countries-110m.json": "countries-110m.json"},
        why="land and borders (Natural Earth, public domain) of maps (`questions/media/base_map.js`, "
        "`features/results/base_map.py`)",
    ),
)

HEAD = """\
# Libraries of others

Made by `make vendor` (`bench/release/vendor.py`): do not change these files by hand. They are loaded in the presenter
frame only, never on crowdd's own pages; tus-js-client is loaded on the page for media only.

| Library | Version | Licence | Why |
|---|---|---|---|
"""
OLD = """
jQuery and Bootstrap are out of maintenance. In the frame they run beside scripts that nobody has checked anyway: its
origin is opaque, so a hole in them gives no more than a presenter has by itself.
"""
FILES = """
## Files

| File | From the npm package | SHA-256 |
|---|---|---|
"""


def table(contents: Mapping[str, bytes]) -> str:
    """The text of README.md for files by their path below FOLDER."""
    packages = "".join(f"| {each.name} | {each.version} | {each.licence} | {each.why} |\n" for each in PACKAGES)
    rows = []
    for package in PACKAGES:
        for target, source in sorted(package.sources.items()):
            path = f"{package.folder}/{target}"
            digest = hashlib.sha256(contents[path]).hexdigest()
            origin = "" if source.startswith(LICENCES) else f"`{package.name}@{package.version}`, "
            rows.append(f"| `{path}` | {origin}`{source}` | `{digest}` |\n")
    return HEAD + packages + OLD + FILES + "".join(rows)


def present(folder: Path = FOLDER) -> dict[str, bytes]:
    """The files of others that are in a folder, by their path."""
    paths = (path for path in folder.rglob("*") if path.is_file() and path != folder / README.name)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def unpacked(package: Package, archive: bytes, folder: Path) -> dict[str, bytes]:
    """The named files of a package's archive, which is refused when it is not the recorded one."""
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(archive).digest()).decode()
    if integrity != package.integrity:
        raise click.ClickException(f"{package.name}@{package.version} must have {package.integrity} (got {integrity}).")
    path = folder / f"{package.folder}.tgz"
    path.write_bytes(archive)
    files = {}
    with tarfile.open(path) as opened:
        for target, source in package.sources.items():
            if source.startswith(LICENCES):
                files[f"{package.folder}/{target}"] = (ROOT / source).read_bytes()
                continue
            member = opened.extractfile(f"package/{source}")
            if member is None:
                raise click.ClickException(f"{package.name}@{package.version} must have the file {source}.")
            files[f"{package.folder}/{target}"] = member.read()
    return files


def _download(package: Package, folder: Path) -> bytes:
    command = ["npm", "pack", "--silent", "--pack-destination", str(folder), f"{package.name}@{package.version}"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
    if done.returncode:
        raise click.ClickException(f"{' '.join(command)} failed: {done.stderr.strip()}")
    return (folder / done.stdout.split()[-1]).read_bytes()


@click.command()
def main() -> None:
    """Write crowdd/http/static/vendor."""
    contents: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory(prefix="crowdd-vendor-") as name:
        for package in PACKAGES:
            contents |= unpacked(package, _download(package, Path(name)), Path(name))
    for path in FOLDER.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for name, content in contents.items():
        (FOLDER / name).parent.mkdir(parents=True, exist_ok=True)
        (FOLDER / name).write_bytes(content)
    README.write_text(table(contents), "utf-8")
    click.echo(f"{len(contents)} files of {len(PACKAGES)} packages in {FOLDER}")


if __name__ == "__main__":
    main()
