"""Choices, ratings, numbers, words, days, orders and tables."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from hands.meanings.kit import WORDS, Json, Meaning, act

KEYS = ("press", "press", "press", "key", "bounce", "hold", "cyrillic")
"""Ways to choose by a key, besides a press."""


def _way(asking: Any, choice: Json) -> str:
    """How a choice is made: by a key only where one is shown."""
    if asking.world.finger or not choice.get("key"):
        return "press" if asking.world.finger or not asking.alone else str(asking.random.choice(("press", "twice")))
    return str(asking.random.choice(KEYS))


def one(asking: Any) -> Meaning:
    """One choice, now and then after another one."""
    choices = [*asking.question["choices"]] if "choices" in asking.question else [{"value": True}, {"value": False}]
    if asking.question.get("unsure"):
        choices.append({"value": None})
    random, acts = asking.random, []
    chosen = random.choice([each for each in choices if each["value"] != asking.before] or choices)
    if not asking.alone and random.random() < 0.25:
        acts.append(act(asking, "choose", value=random.choice(choices)["value"], by="press"))
    acts.append(act(asking, "choose", value=chosen["value"], by=_way(asking, chosen)))
    return Meaning(acts, chosen["value"])


def some(asking: Any) -> Meaning:
    """Some choices; one of them is taken back now and then."""
    question, random = asking.question, asking.random
    values = [each["value"] for each in question["choices"]]
    low, high = question.get("min", 1), min(question.get("max", len(values)), len(values))
    chosen = set(random.sample(values, random.randint(low, high)))
    toggled = [*(set(asking.before or []) ^ chosen)]
    if not asking.before and random.random() < 0.25:
        toggled += 2 * [random.choice([value for value in values if value not in chosen] or values)]
        toggled = toggled if toggled.count(toggled[-1]) % 2 == (toggled[-1] in chosen) else [*toggled, toggled[-1]]
    random.shuffle(toggled)
    by = {each["value"]: _way(asking, each) for each in question["choices"]}
    ways = {"key": "key", "cyrillic": "cyrillic"}
    acts = [act(asking, "toggle", value=value, by=ways.get(by[value], "press")) for value in toggled]
    return Meaning(acts, [value for value in values if value in chosen])


def rating(asking: Any) -> Meaning:
    """A value of a scale."""
    question, random = asking.question, asking.random
    values = [*range(question.get("min", 1), question.get("max", 5) + 1, question.get("step", 1))]
    value = random.choice([each for each in values if each != asking.before])
    do = "slide" if question.get("slider") else "rate"
    first = [act(asking, do, value=random.choice(values))] if random.random() < 0.2 else []
    return Meaning([*first, act(asking, do, value=value)], value)


_DECIMAL = {"en": ".", "de": ",", "ar": ".", "es": ",", "fr": ","}


def number(asking: Any) -> Meaning:
    """A number in the notation of the page's language, or in another one: then it is stored as meant, or refused."""
    question, random = asking.question, asking.random
    if question.get("unsure") and random.random() < 0.1:
        return Meaning([act(asking, "unsure")], None)
    if question.get("nothing") and random.random() < 0.1:
        return Meaning([act(asking, "absent")], [])
    low, high = question.get("min", -1000), question.get("max", 10_000)
    whole = question.get("whole") or random.random() < 0.5
    value: Any = (
        random.randint(int(low), int(min(high, 10_000))) if whole else round(random.uniform(low, min(high, 10_000)), 2)
    )
    sign, refusable = _DECIMAL[asking.world.language], False
    text = str(value)
    if "." in text:
        sign = random.choice([".", ","])
        refusable = sign != _DECIMAL[asking.world.language] or asking.world.language != asking.world.locale
        text = text.replace(".", sign)
    acts = [act(asking, "write", text=text, by=random.choice(["keys", "keys", "paste"]))]
    if random.random() < 0.3 and not asking.world.finger:
        acts.append(act(asking, "wheel"))
    if asking.before is not None or random.random() < 0.15:
        acts.insert(0, act(asking, "write", text="77", by="keys"))
    return Meaning(acts, value, refusable)


def words(asking: Any) -> Meaning:
    """A text of one line or several, by keys, an input method or pasting."""
    question, random = asking.question, asking.random
    if question.get("unsure") and random.random() < 0.1:
        return Meaning([act(asking, "unsure")], None)
    limit = question.get("max_length", 500)
    lines = random.randint(1, 3) if question["type"] == "long_text" else 1
    text = "\n".join(random.choice([each for each in WORDS if len(each) <= limit // lines]) for _ in range(lines))
    acts = [act(asking, "write", text=text, by=random.choice(["keys", "keys", "paste", "ime"]))]
    if random.random() < 0.15:
        acts.insert(0, act(asking, "write", text="Something else", by="keys"))
    return Meaning(acts, text)


def day(asking: Any) -> Meaning:
    """A day; where a part of it is enough, now and then the month or the year alone."""
    question, random = asking.question, asking.random
    first = date.fromisoformat(question.get("min", "1500-01-01"))
    last = date.fromisoformat(question.get("max", "2020-12-31"))
    value = (first + timedelta(days=random.randint(0, (last - first).days))).isoformat()
    if question.get("partial"):
        if random.random() < 0.1 and question.get("nothing"):
            return Meaning([act(asking, "absent")], [])
        value = value[: random.choice([4, 7, 10])]
    return Meaning([act(asking, "day", value=value)], value)


def ranking(asking: Any) -> Meaning:
    """An order."""
    values = [each["value"] for each in asking.question["choices"]]
    order = asking.random.sample(values, len(values))
    return Meaning([act(asking, "order", value=order)], order)


def matrix(asking: Any) -> Meaning:
    """A column for each row; one row is changed now and then."""
    question, random = asking.question, asking.random
    columns = [each["value"] for each in question["columns"]]
    value = {row["value"]: random.choice(columns) for row in question["rows"]}
    acts = [act(asking, "cell", row=row, value=column) for row, column in value.items()]
    if random.random() < 0.3:
        acts.insert(0, act(asking, "cell", row=acts[0]["row"], value=random.choice(columns)))
    return Meaning(acts, value)


MEANINGS = {
    "single_choice": one, "yes_no": one, "multiple_choice": some, "rating": rating, "number": number, "short_text": words,
    "long_text": words, "date": day, "ranking": ranking, "matrix": matrix,
}  # fmt: skip
