"""Parts of sounds and videos, as parts of their length."""

from __future__ import annotations

from typing import Any

from hands.meanings.kit import Json, Meaning, act, relabelled


def segments(asking: Any) -> Meaning:
    """One or two parts with labels."""
    random = asking.random
    labels = [each["value"] for each in asking.question.get("labels", [])]
    label, acts, value = labels[0] if labels else None, list[Json](), list[Json]()
    for nth in range(random.randint(1, 2)):
        start = random.uniform(0.05, 0.2) + 0.45 * nth
        shape = {"start": start, "end": start + random.uniform(0.1, 0.2)}
        meant = random.choice(labels) if labels else None
        if meant != label:
            acts.append(act(asking, "label", value=meant, by="press"))
        label = meant
        acts.append(act(asking, "draw", kind="segment", shape=shape))
        value.append({"shape": shape, **({"label": label} if label else {})})
    relabelled(asking, acts, value)
    return Meaning(acts, value)


MEANINGS = {"sound_segments": segments, "video_segments": segments}
