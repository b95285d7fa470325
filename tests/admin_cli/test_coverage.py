"""Every command of crowdctl is run by these tests as a process, once well and once refused; and its help reads well."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from test_refusals import REFUSALS

from crowdd.admin_cli.groups import first_sentence
from crowdd.admin_cli.main import COMMANDS, STATUSES, main

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
# Run by tests of their own: serve does not end by itself, the others need two places.
ELSEWHERE = {
    "serve": ROOT / "tests/test_serve.py",
    "backup": HERE / "test_backup.py",
    "restore": HERE / "test_backup.py",
    "drill": HERE / "test_scheduled_backups.py",
}


def tree(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command and group, by its path."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from tree(command.get_command(context, name), (*path, name))


EVERYTHING = dict(tree(main))
LEAVES = {path for path, command in EVERYTHING.items() if not isinstance(command, click.Group)}


def path_of(words: Sequence[str]) -> tuple[str, ...] | None:
    """The command that these words begin with, after options of the root."""
    words = words[2:] if words[:1] in (("-c",), ["-c"]) else words
    for size in (3, 2, 1):
        if tuple(words[:size]) in LEAVES:
            return tuple(words[:size])
    return None


def run_well() -> Iterator[tuple[str, ...]]:
    """The commands in ``crowdctl(…)`` and ``crowdctl.json(…)`` of these tests, whose words are written out."""
    for file in HERE.rglob("test_*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and re.fullmatch(r"(stage\.)?crowdctl(\.json)?", ast.unparse(node.func)):
                words = [word.value for word in node.args if isinstance(word, ast.Constant)]
                if path := path_of(words):
                    yield path


def test_every_command_is_run_well():
    left = LEAVES - {*run_well()} - {(name,) for name in ELSEWHERE}
    assert left == set()
    assert all(f'"{name}"' in file.read_text("utf-8") for name, file in ELSEWHERE.items())


def test_every_command_is_refused_once():
    assert LEAVES - {path_of(words) for words, _, _ in REFUSALS} == set()


@pytest.mark.parametrize("path", EVERYTHING, ids=" ".join)
def test_help_reads_well(path):
    command = EVERYTHING[path]
    ended = CliRunner().invoke(main, [*path, "--help"])
    assert ended.exit_code == 0
    assert command.help and re.match(r"[A-Z].*\.", command.help.strip(), re.DOTALL), command.help
    assert len(first_sentence(command)) <= 120
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help and parameter.help.endswith("."), parameter.name
        else:
            assert parameter.make_metavar(click.Context(command)).strip("[]") in ended.output.split("Options:")[0]
    if isinstance(command, click.Group):
        names = command.list_commands(click.Context(command))
        assert all(f"  {name} " in ended.output for name in names)


def test_arguments_are_explained():
    """Each stands in the help of its command or of its group, beside the line of usage."""
    for path in LEAVES:
        command, group = EVERYTHING[path], EVERYTHING[path[:-1]]
        for parameter in command.params:
            if isinstance(parameter, click.Argument):
                shown = parameter.make_metavar(click.Context(command)).strip("[]")
                name = shown if shown.isupper() else parameter.name.upper()
                words = f"{command.help} {group.help}"
                assert re.search(rf"\b{re.escape(name)}\b", words), (path, name)


def test_the_list_of_commands_says_what_they_say():
    """The list is not made by importing them, so it could say something else."""
    text = CliRunner().invoke(main, ["--help"]).output
    assert all(str(status) in text for status in STATUSES)
    for name, (_, words) in COMMANDS.items():
        assert words.endswith("."), name
        assert EVERYTHING[name,].name == name
