"""The site of docs/: every page has its place, and what the texts name exists."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import click
import pytest

from crowdd.admin_cli.main import main
from crowdd.kernel import config

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if not {"_build", "reference"} & {*path.relative_to(DOCS).parts})
TEXTS = [*PAGES, ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"]
CODE = re.compile(r"^```\w*\n(.*?)^```$|`([^`\n]+)`", re.MULTILINE | re.DOTALL)
# Set by the operator of crowdd, not settings of its own.
OTHERS = {"CROWDD_CONFIG"}

sys.path.insert(0, str(DOCS))

import reference  # noqa: E402


def code_of(path: Path) -> Iterator[str]:
    """The lines of a text that stand in code."""
    for block, word in CODE.findall(path.read_text("utf-8")):
        yield from (block or word).splitlines()


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_the_list_of_records_has_each_of_them_in_order():
    listed = re.findall(
        r"^\* \[\d+\. .+\]\((\d\d-.+\.md)\)$", (DOCS / "decisions/README.md").read_text("utf-8"), re.MULTILINE
    )
    assert listed == sorted(path.name for path in (DOCS / "decisions").glob("[0-9]*.md"))


def test_a_record_has_at_most_250_words():
    texts = {path.name: path.read_text("utf-8") for path in (DOCS / "decisions").glob("[0-9]*.md")}
    assert {name for name, text in texts.items() if len(text.split()) > 250} == set()


T = TypeVar("T")


def in_each(paths: Iterable[Path], find: Callable[[Path], Iterable[T]]) -> Iterator[tuple[Path, T]]:
    """What is found in each text. A rule is one test: to report two hundred would take longer than to look."""
    for path in paths:
        for finding in find(path):
            yield path, finding


def commands_in(path: Path) -> Iterator[list[str]]:
    """The words of each call of crowdctl; what stands after several blanks is a remark."""
    for line in code_of(path):
        for call in re.finditer(r"(?:^|[\s/])crowdctl ([^|>\n]*?)(?=\s{2,}|$|[|>])", line):
            try:
                yield shlex.split(call[1].replace("…", "").replace("...", ""))
            except ValueError:
                pytest.fail(f"{named(path)}: {line}")


def parameters_of(words: list[str]) -> tuple[click.Command, list[str]]:
    """The command that the words call, and its options among them; asserts that it exists."""
    command: click.Command = main
    rest = words[2:] if words[:1] in (["-c"], ["--config"]) else words
    while isinstance(command, click.Group) and rest and re.fullmatch(r"[a-z][a-z-]*", rest[0]):
        subcommand = command.get_command(click.Context(command), rest[0])
        assert subcommand is not None, words
        command, rest = subcommand, rest[1:]
    return command, [word.partition("=")[0] for word in rest if word.startswith("--")]


def test_every_command_that_is_named_exists_with_its_options():
    for path, words in in_each(TEXTS, commands_in):
        command, options = parameters_of(words)
        known = {name for each in command.params for name in (*each.opts, *each.secondary_opts)} | {
            "--help",
            "--version",
        }
        assert {*options} <= known, (named(path), words)


def test_every_setting_that_is_named_exists():
    known = {(section, option) for section, option, _, _ in config.options()}
    for path, line in in_each(TEXTS, code_of):
        for section, option in re.findall(r"(?<!\w)\[(\w+)\] ([a-z0-9_]+)", line):
            assert (section, option) in known, (named(path), line)
    names = {f"CROWDD_{section}_{option}".upper() for section, option in known} | OTHERS
    names |= {f"CROWDD_{word}" for word in ("SECTION",)} | {f"{name}_FILE" for name in names}
    for path in TEXTS:
        shown = re.findall(r"\bCROWDD_[A-Z][A-Z0-9_]*[A-Z0-9]\b", path.read_text("utf-8"))
        assert {*shown} <= names, (named(path), {*shown} - names)


def test_every_command_is_on_the_site():
    names = reference.names_of_commands()
    assert {"user", "user list", "serve", "webhook redeliver"} <= {*names}
    text = reference.commands()
    for command in (main.get_command(click.Context(main), name) for name in main.list_commands(click.Context(main))):
        for each in command.commands.values() if isinstance(command, click.Group) else [command]:
            options = {option for each_ in each.params for option in each_.opts if option.startswith("--")}
            assert all(option in text for option in options)


def test_every_page_has_a_place():
    """A page is in the list of another, so that it is found without searching."""
    listed = {DOCS / "index.md"}
    for page in PAGES:
        for options, entries in re.findall(
            r"^```\{toctree\}\n((?::[^\n]*\n)*)\n?(.*?)^```$", page.read_text("utf-8"), re.M | re.S
        ):
            for entry in entries.split():
                listed |= {*page.parent.glob(f"{entry}.md")} if ":glob:" in options else {page.parent / f"{entry}.md"}
    assert {*PAGES} <= listed
    made = {DOCS / "reference" / f"{name}.md" for name in ("crowdctl", "addresses")}
    assert listed - {*PAGES} == made


def test_every_address_that_is_named_is_answered():
    known = addresses()
    for path, line in in_each([path for path in TEXTS if path.name != "CHANGELOG.md"], code_of):
        for mention in re.findall(
            r"(?:^|[\s\"'=]|CROWDD)(/(?:api|project|account|admin|health|ready|metrics)[^\s\"'?&`,;)]*)", line
        ):
            for address in alternatives(mention.rstrip(".,:")):
                assert known.fullmatch(address), (named(path), line, address)


def addresses() -> re.Pattern[str]:
    """Every address of a server."""
    paths = sorted({re.sub(r"<[^>]+>", r"[^/\\s]+", route.path).rstrip("/") for route in reference.routes()})
    return re.compile(f"(?:{'|'.join(paths)})/?")


def alternatives(address: str) -> list[str]:
    """``/a/b|c`` as the addresses that it stands for."""
    head, _, tail = address.rpartition("/")
    return [f"{head}/{word}" for word in tail.split("|")]
