"""The samples of docs/api.md are run as they stand there, and print what stands below them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import uuid
from pathlib import Path
from typing import Any

import pytest
from support.person import Person

PAGE = (Path(__file__).parents[2] / "docs" / "api.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(sh|json)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
SETTINGS, *SAMPLES = BLOCKS
MARK = "printf '\\036'"  # between what one block prints and the next


def values(text: str) -> list[Any]:
    """The JSON values that stand one after the other in a text."""
    documents, decoder, text = [], json.JSONDecoder(), text.strip()
    while text:
        value, end = decoder.raw_decode(text)
        documents.append(value)
        text = text[end:].strip()
    return documents


def matches(wanted: Any, found: Any) -> bool:
    """Whether they are the same; "…" is anything."""
    if wanted == "…":
        return True
    if isinstance(wanted, dict) and isinstance(found, dict):
        return wanted.keys() == found.keys() and all(matches(wanted[key], found[key]) for key in wanted)
    if isinstance(wanted, list) and isinstance(found, list):
        return len(wanted) == len(found) and all(map(matches, wanted, found))
    return bool(wanted == found)


@pytest.fixture(scope="module")
def printed(live_server: Any, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What each block with commands prints, all of them run in one shell, one after the other."""
    owner = Person(live_server.url).register(f"reader{uuid.uuid4().hex[:8]}")
    script = "".join(f"{text}\n{MARK}\n" for language, text in SAMPLES if language == "sh")
    environment = {**os.environ, "CROWDD": owner.url, "KEY": owner.key}
    folder = tmp_path_factory.mktemp("samples")
    done = subprocess.run(
        ["sh", "-euc", script], env=environment, cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.split("\036")[:-1]


def test_the_first_block_sets_what_the_others_use():
    assert re.findall(r"^export (\w+)=", SETTINGS[1], re.MULTILINE) == ["CROWDD", "KEY"]


@pytest.mark.proof
def test_each_block_prints_what_stands_below_it(printed):
    outputs, compared = iter(printed), 0
    output = ""
    for number, (language, text) in enumerate(SAMPLES):
        if language == "sh":
            output = next(outputs)
            followed = number + 1 < len(SAMPLES) and SAMPLES[number + 1][0] == "json"
            assert followed or not output.strip(), text
        else:
            wanted = values(text)
            assert matches(wanted, values(output)), (text, output)
            compared += 1
    assert compared == sum(language == "json" for language, _ in SAMPLES) > 8
