"""What is done with the page: going on, back, away and on again, skipping, changing; and presenters of one's own."""

from __future__ import annotations

import attrs

from hands.acting.actor import Actor, Json, act
from hands.acting.forms import write_into


def main_button(actor: Actor) -> object:
    """The button that goes on or sends."""
    return actor.frame.locator(".say:visible button.main:visible").first


@act
def next_(actor: Actor, about: Json) -> None:
    """Goes on to the next step."""
    before = actor.over(step=True)
    actor.press(main_button(actor))
    actor.sees(lambda: actor.over(step=True) != before or actor.eyes.messages(), "“Next”")


@act
def back(actor: Actor, about: Json) -> None:
    """Goes back to the step before, to look at it once more."""
    before = actor.over(step=True)
    actor.press(actor.button(actor.frame.locator(".say:visible"), "Back"))
    actor.sees(lambda: actor.over(step=True) != before, "“Back”")


@act
def send(actor: Actor, about: Json) -> None:
    """Sends the answer."""
    actor.press(main_button(actor))


@act
def skip(actor: Actor, about: Json) -> None:
    """Skips the task, without a reason."""
    actor.press(actor.page.locator("#skip"))
    reasons = actor.page.locator("#why button")
    if not actor.page.locator("#skip").get_attribute("data-offered"):
        actor.sees(reasons.first.is_visible, "“Skip”")
        actor.press(reasons.first)


@act
def change(actor: Actor, about: Json) -> None:
    """Wants the last answer back."""
    button = actor.page.locator("#change")
    actor.eyes.until(button.is_visible, "“Change it” is not offered")
    before = actor.over(step=True)
    if about["by"] == "press":
        actor.press(button)
    else:
        actor.hand.look()
        actor.hand.key("z")
        changing, news = actor.page.locator("#changing"), actor.page.locator("#said")
        again = actor.word("Press the key again.")
        actor.sees(lambda: changing.is_visible() or news.inner_text() == again, "the key of “Change it”")
        if not changing.is_visible():  # the focus was in the frame
            actor.hand.key("z")
    actor.sees(actor.page.locator("#changing").is_visible, "“Change it”")
    actor.frame = actor.eyes.frame()
    actor.sees(lambda: actor.over(step=True) not in ("", before), "the task before does not come")
    actor.place = actor.over()


@act
def keep(actor: Actor, about: Json) -> None:
    """Leaves the answer as it is."""
    actor.press(actor.page.locator("#unchanged"))


@act
def reload(actor: Actor, about: Json) -> None:
    """Loads the page again: the same task is there, with what was done; in the language of the account, if there is one by now."""
    actor.page.wait_for_timeout(300)
    actor.page.reload()
    actor.frame = actor.eyes.frame()
    actor.place = actor.eyes.until(actor.over, "no task after a reload")
    actor.world = attrs.evolve(actor.world, language=actor.page.get_attribute("html", "lang"))


@act
def tab(actor: Actor, about: Json) -> None:
    """Looks at something else in another tab, and comes back."""
    other = actor.page.context.new_page()
    actor.page.wait_for_timeout(150)
    other.close()
    actor.page.bring_to_front()


@act
def sign_in(actor: Actor, about: Json) -> None:
    """Signs in to an account in another tab, and comes back to the task."""
    person, other = actor.account(), actor.page.context.new_page()
    other.goto(f"{person.url}/account/signin")
    other.locator("input[name=email]").fill(person.name)
    other.locator("input[name=password]").fill(person.password)
    other.locator("input[name=password]").press("Enter")
    other.wait_for_url(lambda url: "/account/signin" not in url)
    other.close()
    actor.page.bring_to_front()
    actor.page.wait_for_timeout(150)


@act
def button(actor: Actor, about: Json) -> None:
    """Presses one of the buttons of a presenter, or its key."""
    target = actor.frame.locator(".answers button").nth(about["nth"])
    actor.eyes.until(target.is_visible, "no buttons")
    actor.trembled |= about["by"] in ("bounce", "hold", "twice")
    if about["by"] in ("press", "twice"):
        return actor.press(target, twice=about["by"] == "twice")
    actor.hand.look()
    {"key": actor.hand.key, "bounce": actor.hand.bounce, "hold": actor.hand.hold}[about["by"]](about["key"])
    return None


@act
def textarea(actor: Actor, about: Json) -> None:
    """Writes into the field of a presenter."""
    write_into(actor, actor.frame.locator("textarea"), about["text"], about["by"])


@act
def enter(actor: Actor, about: Json) -> None:
    """Ends with Enter."""
    actor.hand.key("Enter")
