"""No regular expression takes much longer for a string that is twice as long: no request can stop the process with one."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import attrs
import pytest
from support.checks.patterns import Pattern, UnknownPatternError, collect

ROOT: Final = Path(__file__).parents[2]
# Patterns that may be slow, by the module they stand in: why nobody else than an operator brings the text.
OPERATORS_TEXT: Final = {"crowdd.kernel.config.settings": "lines of the operator's own configuration"}


def slow(patterns: Iterable[Pattern]) -> list[dict[str, object]]:
    """What is slow among patterns, measured in a process that ends when it has used a minute of CPU."""
    lines = "\n".join(json.dumps(attrs.asdict(pattern)) for pattern in patterns)
    measuring = subprocess.run(
        ["/bin/sh", "-c", f"ulimit -t 120; exec '{sys.executable}' -m support.checks.patterns"],
        input=lines,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": f"{ROOT / 'tests'}:{ROOT}"},
        check=False,
    )
    printed = [json.loads(line) for line in measuring.stdout.splitlines()]
    assert measuring.returncode == 0, f"given up at {printed[-1:]}: {measuring.stderr[-2000:]}"
    return [line for line in printed if "seconds" in line]


def test_every_pattern_is_linear_on_what_strangers_send() -> None:
    patterns = [
        pattern for pattern in collect(ROOT / "crowdd") if pattern.where.partition(":")[0] not in OPERATORS_TEXT
    ]
    assert len(patterns) > 150
    assert slow(patterns) == []


@pytest.mark.proof
def test_exceptions_are_still_needed() -> None:
    excepted = [one for one in collect(ROOT / "crowdd") if one.where.partition(":")[0] in OPERATORS_TEXT]
    assert {str(line["where"]).partition(":")[0] for line in slow(excepted)} == set(OPERATORS_TEXT)


# Those that stopped the process once, and others of their kind.
NOT_LINEAR: Final = (
    (r"[\s>|:*+.)0-9-]*-[\s>|:*+.)0-9-]*", "fullmatch"),
    (r'"(?:[^"\\]|\\.)*"|[\[\]{},]', "finditer"),
    (r"(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html)\b", "match"),
    (r"(?:\s*\n)*TY  - \S", "match"),
    (r"[+-]?[\d.,]*\d[\d.,]*(?:e[+-]?\d+)?%?", "fullmatch"),
    (r"[#*_`>~]+|!?\[([^\]]*)\]\([^)]*\)|<[^>]*>", "sub"),
    (r'"@context"\s*:\s*(?:\[[^\]]*)?"https?://iiif\.io/', "search"),
    (r"(a+)+b", "match"),
    (r"(a|a)*b", "fullmatch"),
)
LINEAR: Final = (r'"(?:[^"\\]++|\\.)*+"', r"[a-z][a-z0-9_]{0,39}", r"(?:<!--(?:(?!-->).)*+-->\s*+)*+<html")


@pytest.mark.proof
def test_patterns_that_are_not_linear_are_caught_and_linear_ones_are_not() -> None:
    not_linear = [Pattern(text, text, 0, False, (method,)) for text, method in NOT_LINEAR]
    linear = [Pattern(text, text, 0, False, ("match",)) for text in LINEAR]
    assert [line["where"] for line in slow([*not_linear, *linear])] == [text for text, _ in NOT_LINEAR]


def test_patterns_are_collected_wherever_they_are_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "colours"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "names.py").write_text(
        'import re\nHEX = re.compile(rb"#[0-9]+", re.I)\nSCHEMA = {"pattern": "^a$"}\n'
        'def is_hex(text):\n    return HEX.match(text) or re.sub(r"x+", "", text)\n'
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert {(one.text, one.in_bytes, one.methods) for one in collect(package)} == {
        ("#[0-9]+", True, ("match",)),
        ("^a$", False, ("search",)),
        ("x+", False, ("sub",)),
    }
    (package / "names.py").write_text("import re\ndef is_hex(text, colour):\n    return re.match(colour, text)\n")
    with pytest.raises(UnknownPatternError, match="names:3: name 'colour' is not defined"):
        collect(package)
