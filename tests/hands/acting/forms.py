"""Choices, numbers, words and the like."""

from __future__ import annotations

import contextlib
from typing import Any

from playwright.sync_api import Error

from hands.acting.actor import Actor, Json, LostError, act

_CHOSEN = "choice => choice.querySelector('input')?.checked ?? choice.getAttribute('aria-pressed') === 'true'"
NOTES = "about:blank"  # the address of a page of one's own
CHOICES = ".choices > label.choice, .choices > button.answer"


def _nth(question: Json, value: Any) -> int:
    values = [each["value"] for each in question["choices"]] if "choices" in question else [True, False]
    return values.index(value) if value is not None else len(values)


def choice(actor: Actor, about: Json) -> Any:
    """The choice of a value: by its words where the project has some."""
    question, scope = actor.question(about["q"]), actor.scope(about["q"])
    return scope.locator(CHOICES).nth(_nth(question, about["value"]))


def _is_chosen(actor: Actor, target: Any) -> bool:
    """Whether a choice is seen to be chosen, or the task has been sent by it."""
    with contextlib.suppress(Error):
        if target.evaluate(_CHOSEN, timeout=500):
            return True
    return actor.moved_on()


def _key_of(actor: Actor, target: Any) -> str:
    cap = target.locator("kbd")
    if not cap.count():
        return ""
    return str(cap.first.inner_text()).strip().lower()


def _pressed_key(actor: Actor, target: Any, by: str) -> bool:
    """Presses the key that is shown beside a choice; false where none is."""
    key = _key_of(actor, target)
    if not key or (by == "cyrillic" and not ("a" <= key <= "z")):
        return False
    actor.hand.look()
    ways = {
        "key": actor.hand.key,
        "bounce": actor.hand.bounce,
        "hold": actor.hand.hold,
        "cyrillic": actor.hand.physical,
    }
    actor.trembled |= by in ("bounce", "hold")
    ways[by](key)
    return True


@act
def choose(actor: Actor, about: Json) -> None:
    """Chooses by a press, or by the key that is shown."""
    target = choice(actor, about)
    actor.eyes.until(target.is_visible, f"{about['value']} is not shown")
    if about["by"] in ("press", "twice") or not _pressed_key(actor, target, about["by"]):
        actor.trembled |= about["by"] == "twice"
        actor.press(target, twice=about["by"] == "twice")
    actor.sees(lambda: _is_chosen(actor, target), f"{about['by']} on {about['value']!r} of {about['q']}")


@act
def toggle(actor: Actor, about: Json) -> None:
    """Turns one of several choices on or off."""
    target = choice(actor, about)
    box = target.locator("input")
    before = box.is_checked()
    if about["by"] == "press" or not _pressed_key(actor, target, about["by"]):
        actor.press(target)
    actor.sees(lambda: box.is_checked() != before, f"{about['by']} on {about['value']!r} of {about['q']}")


@act
def rate(actor: Actor, about: Json) -> None:
    """Presses a number of a scale."""
    target = (
        actor.scope(about["q"])
        .locator(".scale label")
        .filter(has=actor.frame.get_by_text(str(about["value"]), exact=True))
    )
    actor.press(target)
    actor.sees(lambda: target.locator("input").is_checked(), f"press on {about['value']} of {about['q']}")


@act
def slide(actor: Actor, about: Json) -> None:
    """Presses the slider near the value, then goes on by arrow keys until the value is shown."""
    question, slider = actor.question(about["q"]), actor.scope(about["q"]).locator("input[type=range]")
    low, high, step = question.get("min", 1), question.get("max", 5), question.get("step", 1)
    part = (about["value"] - low) / (high - low)
    actor.press(slider, (0.02 + 0.96 * (part if actor.world.language != "ar" else 1 - part), 0.5))
    shown = actor.scope(about["q"]).locator("output")
    actor.sees(lambda: shown.inner_text().strip().lstrip("-").isdigit(), f"press on the slider of {about['q']}")
    for _ in range(20):
        now = int(shown.inner_text())
        if now == about["value"]:
            return
        actor.hand.key("ArrowUp" if now < about["value"] else "ArrowDown")
        actor.sees(
            lambda now=now: int(shown.inner_text()) != now, f"an arrow key on the slider of {about['q']} by {step}"
        )
    raise LostError(f"the slider of {about['q']} does not get to {about['value']}")


def field(actor: Actor, name: str) -> Any:
    """The field to write in."""
    return actor.scope(name).locator("input:not([type=checkbox], [type=radio]), textarea").first


def write_into(actor: Actor, target: Any, text: str, by: str) -> None:
    """Goes to a field and writes, in place of what is there."""
    actor.press(target)
    actor.sees(lambda: target.evaluate("field => field === document.activeElement"), "a press on a field")
    if target.input_value():
        actor.hand.everything()
        if not text:
            actor.hand.key("Delete")
            actor.hand.put_in()
    if by == "paste":
        copied(actor, text)
        actor.page.keyboard.press("Control+v")
        actor.hand.put_in()
    elif by == "ime":
        for nth, line in enumerate(text.split("\n")):
            if nth:
                actor.page.keyboard.press("Shift+Enter")
            actor.hand.compose(line)
    else:
        actor.hand.type(text)


def copied(actor: Actor, text: str) -> None:
    """Copies a text from a page of one's own."""
    context = actor.page.context
    notes = next((each for each in context.pages if each.url == NOTES), None) or context.new_page()
    notes.bring_to_front()
    notes.set_content("<textarea autofocus></textarea>")
    notes.locator("textarea").fill(text)
    notes.keyboard.press("Control+a")
    notes.keyboard.press("Control+c")
    actor.page.bring_to_front()


@act
def write(actor: Actor, about: Json) -> None:
    """Writes a text or a number."""
    write_into(actor, field(actor, about["q"]), about["text"], about["by"])


@act
def wheel(actor: Actor, about: Json) -> None:
    """Scrolls with the pointer over the field that was typed into."""
    spot = actor.eyes.bring(field(actor, about["q"]))
    for down in (60, 60, -60):
        actor.hand.scroll(0, down, spot)
        actor.page.wait_for_timeout(40)


@act
def day(actor: Actor, about: Json) -> None:
    """Types a day: into the parts of the browser's field in the order of its language, or as it is written in ISO 8601."""
    if actor.question(about["q"]).get("partial"):
        return _parts(actor, about)
    target = field(actor, about["q"])
    year, month, date = about["value"].split("-")
    leftward = target.evaluate("field => getComputedStyle(field).direction === 'rtl'")
    actor.press(
        target, (0.92 if leftward else 0.08, 0.5)
    )  # its first part; at the other end is the button of its calendar
    if target.get_attribute("type") != "date":
        actor.hand.everything()
        return actor.hand.type(about["value"])
    order = [month, date, year]  # that of the browser, whose own language the tests do not change
    actor.hand.type("".join(order))
    return None


def _parts(actor: Actor, about: Json) -> None:
    """Goes to the first field of a date in parts, and from there on with the Tab key, in the order of the page."""
    place = actor.scope(about["q"]).locator(".date.parts")
    names = place.locator("input, select").evaluate_all("all => all.map((each) => each.className || 'month')")
    parts = dict(zip(("year", "month", "day"), about["value"].split("-"), strict=False))
    fields = [place.locator("select" if name == "month" else f"input.{name}") for name in names]
    actor.press(place.locator("label").first)  # a field of choices would open its list
    for nth, name in enumerate(names):
        if nth:
            actor.hand.key("Tab")
        target, part = fields[nth], parts.get(name, "")
        actor.sees(
            lambda target=target: target.evaluate("field => field === document.activeElement"), f"{name} of a date"
        )
        if name == "month":
            actor.hand.key("Home")
            for _ in range(int(part or 0)):
                actor.hand.key("ArrowDown")
        elif part:
            actor.hand.everything()
            actor.hand.type(part)
        elif target.input_value():
            actor.hand.everything()
            actor.hand.key("Delete")
    actor.hand.put_in()


@act
def unsure(actor: Actor, about: Json) -> None:
    """Says that they can't tell."""
    target = actor.scope(about["q"]).locator("label.un").last
    actor.press(target)
    actor.sees(lambda: target.locator("input").is_checked(), f"“I can’t tell” of {about['q']}")


@act
def absent(actor: Actor, about: Json) -> None:
    """Says that nothing is there."""
    target = actor.scope(about["q"]).locator("label.un").first
    actor.press(target)
    actor.sees(lambda: target.locator("input").is_checked(), f"“Nothing there” of {about['q']}")


@act
def order(actor: Actor, about: Json) -> None:
    """Moves entries up until the order is theirs."""
    question, scope = actor.question(about["q"]), actor.scope(about["q"])
    words = {each["value"]: actor.text(each["text"]) for each in question["choices"]}

    def shown() -> list[str]:
        return [text.strip() for text in scope.locator(".ranking .words").all_inner_texts()]

    wanted = [words[value] for value in about["value"]]
    if shown() == wanted:
        actor.press(actor.button(scope, "Keep this order"))
        return
    for nth, entry in enumerate(wanted):
        while (now := shown()).index(entry) > nth:
            row = scope.locator(".ranking li").nth(now.index(entry))
            actor.press(row.get_by_role("button").first)
            actor.sees(lambda now=now: shown() != now, f"“Move up” of {entry}")


@act
def cell(actor: Actor, about: Json) -> None:
    """Presses a cell of a table."""
    question = actor.question(about["q"])
    row = [each["value"] for each in question["rows"]].index(about["row"])
    column = [each["value"] for each in question["columns"]].index(about["value"])
    target = actor.scope(about["q"]).locator("tbody tr").nth(row).locator("label").nth(column)
    actor.press(target)
    actor.sees(lambda: target.locator("input").is_checked(), f"press on {about['value']} of {about['row']}")
