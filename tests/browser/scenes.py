"""What a volunteer sees while they work: the page and the presenter's frame in it, from a server that runs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from support.person import Person

from crowdd.features.projects import starters

_SECONDS = 60_000  # milliseconds at most until something is there
_ABOUT = "Herring gulls have pink legs. When the picture is too dark to say, say so: **that is an answer, too**."


class Scene(NamedTuple):
    """``name`` is the picture's; ``starter`` the presenter; ``play`` what is done before it is taken."""

    name: str
    starter: str
    phone: bool
    theme: str
    play: Callable[[Any, Any], None]


def _begin(page: Any, frame: Any) -> None:
    """Nothing: the first task."""


def _answer(page: Any, frame: Any) -> None:
    first = frame.text_content("#place")
    _button(frame).click()
    page.wait_for_selector("#change:visible", timeout=_SECONDS)
    frame.wait_for_function("first => document.getElementById('place').textContent !== first", arg=first)


def _change(page: Any, frame: Any) -> None:
    _answer(page, frame)
    page.click("#change")
    page.wait_for_selector("#changing:visible", timeout=_SECONDS)


def _help(page: Any, frame: Any) -> None:
    page.click("#help-open")
    page.wait_for_selector("#help:visible", timeout=_SECONDS)


def _offline(page: Any, frame: Any) -> None:
    page.wait_for_load_state("networkidle")  # the second task is there
    page.context.set_offline(True)
    _button(frame).click()
    page.wait_for_selector("#offline:visible", timeout=_SECONDS)


def _finish(page: Any, frame: Any) -> None:
    for _ in range(20):
        if page.is_visible("#finished"):
            break
        first = frame.text_content("#place")
        _button(frame).click()
        frame.wait_for_function(
            "first => document.getElementById('question').hidden || document.getElementById('place').textContent !== first",
            arg=first,
        )
    page.wait_for_selector("#finished:visible", timeout=_SECONDS)


def _button(frame: Any) -> Any:
    return frame.locator("#question button:visible").first


SCENES = (
    Scene("task-picture", "picture", False, "light", _begin),
    Scene("task-picture-phone-dark", "picture", True, "dark", _begin),
    Scene("task-text-dark", "text", False, "dark", _begin),
    Scene("task-text-phone", "text", True, "light", _begin),
    Scene("task-help", "picture", False, "light", _help),
    Scene("task-saved-phone", "picture", True, "light", _answer),
    Scene("task-changing", "picture", False, "light", _change),
    Scene("task-offline-phone", "picture", True, "light", _offline),
    Scene("task-done", "picture", False, "light", _finish),
)


def projects(url: str) -> dict[str, str]:
    """The short names of a published project for each starter."""
    owner = Person(url).register("kittiwake")
    return {name: project(owner, name) for name in starters.NAMES}


def project(owner: Person, starter: str) -> str:
    """The short name of a new project that asks by a starter, with six tasks."""
    source = starters.source(starter) or ""
    words, title = {"picture": ("Gulls in the harbour", "Camera 2"), "text": ("What the log says", "Page 14")}[starter]
    info = {"task_presenter": source}
    body = {"name": words, "description": "Who is on the quay?", "long_description": _ABOUT, "info": info}
    made = owner.api("POST", "project", body)
    for number, sample in enumerate(itertools.islice(itertools.cycle(starters.samples(source)), 6), 1):
        sample = {"title": f"{title}, No. {number}", **sample}
        owner.api("POST", "task", {"project_id": made["id"], "info": sample, "n_answers": 100})
    owner.publish(made["short_name"])
    return str(made["short_name"])


def frame_of(page: Any) -> Any:
    """The presenter's frame, when it shows a task."""
    frame = page.wait_for_selector("iframe", timeout=_SECONDS).content_frame()
    frame.wait_for_function(
        "() => document.body?.innerText.trim() && [...document.images].every((i) => i.hidden || i.complete)",
        timeout=_SECONDS,
    )
    return frame


def played(browser: Any, url: str, of: dict[str, str], **screens: Any) -> Iterator[tuple[Scene, Any]]:
    """Each scene as somebody new plays it, with its page; ``screens`` are the options of a ``wide`` one and a ``phone``."""
    for scene in SCENES:
        context = browser.new_context(color_scheme=scene.theme, **screens["phone" if scene.phone else "wide"])
        page = context.new_page()
        page.goto(f"{url}/project/{of[scene.starter]}/newtask")
        scene.play(page, frame_of(page))
        yield scene, page
        context.close()
