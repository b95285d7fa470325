"""What volunteers mean where the project shows its tasks by a page of its own."""

from __future__ import annotations

from random import Random

from hands.meanings.kit import WORDS, Meaning
from hands.worlds import World


def picture(world: World, random: Random) -> Meaning:
    """A press on a button, or the key of its number."""
    nth = random.randrange(3)
    by = "press" if world.finger else random.choice(["press", "twice", "key", "bounce"])
    return Meaning([{"do": "button", "nth": nth, "key": str(nth + 1), "by": by}], {"answer": ["Yes", "No", None][nth]})


def text(world: World, random: Random) -> Meaning:
    """Words, then Enter or the button."""
    words = random.choice(WORDS)
    by = random.choice(["keys", "keys", "paste", "ime"])
    return Meaning(
        [{"do": "textarea", "text": words, "by": by}, {"do": random.choice(["enter", "send"])}], {"answer": words}
    )


def digits(world: World, random: Random) -> Meaning:
    """A press on a digit, or its key."""
    digit = random.randrange(10)
    by = "press" if world.finger else random.choice(["press", "twice", "key", "hold"])
    return Meaning([{"do": "button", "nth": digit, "key": str(digit), "by": by}], {"digit": digit})


BY_PRESENTER = {"starter picture": picture, "starter text": text, "example digits": digits}
