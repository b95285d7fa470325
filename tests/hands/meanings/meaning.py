"""What somebody means with one question."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import attrs

from hands.meanings import forms, maps, marks, recordings, texts
from hands.meanings.kit import Meaning
from hands.worlds import World

Json = dict[str, Any]


@attrs.frozen
class Asking:
    """A question, and who means something with it: their world, whether it is the only one, their answer before."""

    question: Json
    world: World
    random: Random
    alone: bool = False
    before: Any = None

    @property
    def name(self) -> str:
        return str(self.question["name"])


MEANINGS: dict[str, Callable[[Any], Meaning]] = {
    **forms.MEANINGS,
    **marks.MEANINGS,
    **maps.MEANINGS,
    **recordings.MEANINGS,
    **texts.MEANINGS,
}


def meaning_of(question: Json, world: World, random: Random, *, alone: bool = False, before: Any = None) -> Meaning:
    """Some meaning of a question, by chance."""
    return MEANINGS[question["type"]](Asking(question, world, random, alone, before))
