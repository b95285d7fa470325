"""Presenters to begin with: whole documents of an owner, in which a few words can be changed without reading them.

What is asked stands in the first lines of a starter as JSON: ``question``, ``unsure`` (the words for "I can't tell", ""
for none), and for buttons ``answers``. A source that has such lines, however changed otherwise, can be asked for them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import orjson

Asked = dict[str, Any]
NAMES: Final = ("picture", "text")
# What front ends and people of the field call them.
_ALIASES: Final[Mapping[str, str]] = {"image": "picture", "basic": "text"}
_BLOCK = re.compile(r'(<script type="application/json" id="asked">)(.*?)(</script>)', re.DOTALL)
_SOURCES: Final = {name: (Path(__file__).parent / f"{name}.html").read_text(encoding="utf-8") for name in NAMES}
_SAMPLES: Final[Mapping[str, list[dict[str, str]]]] = {
    "picture": [{"picture": f"/static/img/sample-{number}.svg"} for number in (1, 2, 3)],
    "text": [
        {"text": "Wind NNW, 4. Heavy swell from the west all night."},
        {"text": "Sighted two sails at noon, bearing south."},
        {"text": "Barometer falling since the morning watch."},
    ],
}


def source(name: str) -> str | None:
    """The document of a starter, None when there is none of that name."""
    return _SOURCES.get(_ALIASES.get(name, name))


def asked(document: str) -> Asked | None:
    """What a document asks; None when it is not made of a starter."""
    found = _BLOCK.search(document)
    try:
        said = orjson.loads(found[2]) if found else None
    except orjson.JSONDecodeError:
        return None
    return said if _understood(said) else None


def _understood(said: Any) -> bool:
    if not isinstance(said, dict) or not isinstance(said.get("question"), str):
        return False
    answers = said.get("answers", [])
    texts = isinstance(answers, list) and all(isinstance(answer, str) for answer in answers)
    return texts and isinstance(said.get("unsure", ""), str)


def asking(document: str, said: Asked) -> str:
    """The document with other words; whatever they hold stays words."""
    block = orjson.dumps(said).decode().replace("<", "\\u003c")
    return _BLOCK.sub(lambda found: found[1] + block + found[3], document, count=1)


def samples(document: str) -> list[dict[str, str]]:
    """What a task may look like for a document, while the project has none."""
    said = asked(document)
    return _SAMPLES["picture" if said is not None and "answers" in said else "text"]
