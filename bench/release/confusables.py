"""Characters that look alike: makes the function confusables() from the table of Unicode.

    python -m bench.release.confusables > crowdd/database/schema/02_confusables.sql

The table is confusables.txt of Unicode Technical Standard 39, kept packed in bench/release/unicode as it is published
at https://www.unicode.org/Public/security/. A file with another SHA-256 than SHA256 is refused. To take a newer
version after a release: replace the file, change VERSION and SHA256, and write a migration, which replaces the function
and sets the skeletons of all names again.

The standard compares names by their skeletons: two names look alike if these are equal. Here skeletons also have small
letters only, no compatibility characters (as of full width), and are taken of themselves until they stay, so that a
Cyrillic capital is like the small Latin letter.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import unicodedata
from collections.abc import Mapping
from pathlib import Path

import click

HERE = Path(__file__).parent
VERSION = "16.0.0"
SHA256 = "95bd0aad6dced5ebc63436f459c06ab21a8d107cd842fb57f5c3a1e91bca8611"
FILE = HERE / "unicode" / f"confusables-{VERSION}.txt.gz"
LICENCE = HERE / "licences" / "unicode.txt"
WIDTH = 140
HEAD = f"""\
-- What looks alike. Made by bench/release/confusables.py: do not change it by hand.

-- Each character that a skeleton of a name does not have as it is, with what stands for it, from confusables.txt of
-- Unicode {VERSION} (https://www.unicode.org/Public/security/{VERSION}/, SHA-256 {SHA256}).
-- Its licence:
--
"""


def published() -> str:
    """The table as Unicode has published it. Raises ClickException for another file."""
    content = gzip.decompress(FILE.read_bytes())
    digest = hashlib.sha256(content).hexdigest()
    if digest != SHA256:
        raise click.ClickException(f"{FILE.name} must have the SHA-256 {SHA256} (got {digest}).")
    return content.decode("utf-8-sig")


def prototypes(text: str) -> dict[str, str]:
    """What the table maps each character to."""
    rows = re.findall(r"^([0-9A-F]+) ;\t([0-9A-F ]+) ;\tMA", text, re.MULTILINE)
    return {chr(int(source, 16)): "".join(chr(int(code, 16)) for code in target.split()) for source, target in rows}


def skeletons(table: Mapping[str, str]) -> dict[str, str]:
    """Each decomposed character with what stands for it in skeletons, where that is another text."""
    characters = (chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)
    pairs = ((each, _settled(table, each)) for each in characters if _decomposed(each) == each)
    return {each: target for each, target in pairs if target != each}


def _settled(table: Mapping[str, str], text: str) -> str:
    before = ""
    while text != before:
        before = text
        shown = "".join(table.get(each, each) for each in _decomposed(text))
        text = _decomposed(_decomposed(shown).lower())
    return text


def _decomposed(text: str) -> str:
    return unicodedata.normalize("NFKD", text)


def function(skeleton_of: Mapping[str, str]) -> str:
    """The text of the file with the function."""
    licence = "".join(f"-- {line}".rstrip() + "\n" for line in LICENCE.read_text("utf-8").splitlines())
    return (
        f"{HEAD}{licence}CREATE FUNCTION confusables() RETURNS jsonb IMMUTABLE LANGUAGE sql AS $$ SELECT '{{\n"
        f"{_pairs(skeleton_of)}\n}}'::jsonb $$;\n"
    )


def _pairs(skeleton_of: Mapping[str, str]) -> str:
    """The members of a JSON object in ASCII, those with one value side by side, in lines of a constant of SQL."""
    lines = [""]
    for source, target in sorted(skeleton_of.items(), key=lambda pair: (pair[1], pair[0])):
        member = f"{json.dumps(source)}:{json.dumps(target)},".replace("'", "''")
        if len(lines[-1]) + len(member) > WIDTH:
            lines.append("")
        lines[-1] += member
    return "\n".join(lines).removesuffix(",")


@click.command()
def main() -> None:
    """Print the function."""
    click.echo(function(skeletons(prototypes(published()))), nl=False)


if __name__ == "__main__":
    main()
