"""Parts of texts, by the number of the word."""

from __future__ import annotations

from typing import Any

from hands.meanings.kit import Json, Meaning, act, relabelled


def spans(asking: Any) -> Meaning:
    """One or two words or pairs of words with labels."""
    random = asking.random
    labels = [each["value"] for each in asking.question.get("labels", [])]
    label, acts, value = labels[0] if labels else None, list[Json](), list[Json]()
    for first in random.sample(range(0, 6, 2), random.randint(1, 2)):
        shape = {"words": [first, first + (0 if asking.world.finger else random.randint(0, 1))]}
        meant = random.choice(labels) if labels else None
        if meant != label:
            acts.append(act(asking, "label", value=meant, by="press"))
        label = meant
        acts.append(act(asking, "draw", kind="span", shape=shape))
        value.append({"shape": shape, **({"label": label} if label else {})})
    relabelled(asking, acts, value)
    return Meaning(acts, value)


MEANINGS = {"text_spans": spans}
