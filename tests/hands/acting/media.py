"""Media that do not load: what was not seen cannot be answered."""

from __future__ import annotations

from hands.acting.actor import Actor, Json, LostError, act
from hands.acting.forms import CHOICES

WAITING = 1500  # milliseconds in which an answer to what was not seen would be sent


@act
def unseen(actor: Actor, about: Json) -> None:
    """Tries to answer a medium that is not there: by a press, or by a key."""
    offered = actor.button(actor.frame, "Load again").first
    actor.eyes.until(offered.is_visible, "nothing on the screen says that the medium is missing")
    target = actor.scope(about["q"]).locator(CHOICES).nth(about["nth"])
    if about["by"] == "key":
        actor.hand.look()
        actor.hand.key(about["key"])
    elif target.count() and target.is_visible():
        actor.hand.move(actor.eyes.spot(target))
        actor.hand.press(actor.eyes.spot(target))
    actor.page.wait_for_timeout(WAITING)
    if actor.moved_on():
        raise LostError("what was not seen was answered")


@act
def without(actor: Actor, about: Json) -> None:
    """Says that the answer is given without it."""
    button = actor.button(actor.frame, "Answer without it")
    actor.press(button.first)
    actor.sees(lambda: not button.count() or not button.first.is_visible(), "“Answer without it”")


@act
def again(actor: Actor, about: Json) -> None:
    """Lets the medium be there, and loads it again."""
    actor.site.loaded.add(actor.info["medium"].partition("SITE/")[2])
    button = actor.button(actor.frame, "Load again")
    actor.eyes.until(button.count, "“Load again” is not offered")
    actor.press(button.first)
    actor.sees(lambda: not button.count() or not button.first.is_visible(), "“Load again”")
