"""A volunteer walks through a row of tasks; each stored row is compared with what they meant."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

import attrs
from playwright.sync_api import Error

from hands.acting import forms, marks, media, pages
from hands.acting.actor import ACTS, Actor
from hands.acting.forms import NOTES
from hands.asked import everything
from hands.eyes import LostError
from hands.faults import Fault
from hands.intents import Intent, Walk
from hands.judge import differences
from hands.projects import Project, Projects
from hands.worlds import World

Json = dict[str, Any]
STORED: Final = 15.0  # seconds until an answer has to be there
assert forms and marks and media and pages  # they name acts


@attrs.frozen
class Outcome:
    """What became of an intent: ``fault`` is "" where the stored row is what was meant, or a refusal was seen."""

    intent: Intent
    world: World
    fault: str = ""
    stored: Any = None
    picture: str = ""
    refused: str = ""
    seconds: float = 0.0
    meant: Json = attrs.field(factory=dict)  # in the terms of the media, where a row was stored

    def told(self) -> str:
        """For people: the seed, what was meant and done, what was stored, and where the picture is."""
        lines = [f"walk {self.intent.seed}, task {self.intent.number} of the row, {self.intent.asked}: {self.fault}"]
        lines += [f"  in      {attrs.asdict(self.world)}", f"  meant   {self.intent.written()}"]
        return "\n".join([*lines, f"  stored  {self.stored!r}", f"  picture {self.picture}"])


class Volunteers:
    """Walks, one after the other, in one browser."""

    def __init__(self, browser: Any, projects: Projects, url: str, pictures: Path, fault: Fault | None = None) -> None:
        self._browser, self._projects, self._url = browser, projects, url
        self._pictures, self._fault = pictures, fault
        self._contexts: dict[str, Any] = {}
        self._slowed: list[Any] = []

    def context(self, world: World) -> Any:
        """A browser that nobody has used, with files of crowdd that it may have kept."""
        key = world.browser
        context = self._contexts.get(key)
        if context is None:
            context = self._contexts[key] = self._browser.new_context(**world.options())
            context.set_default_timeout(60_000)  # a busy machine is no fault
            if self._fault:
                self._fault.into(context)
        self._leave(context)
        context.clear_cookies()
        if world.language != world.locale:
            context.add_cookies([{"name": "language", "value": world.language, "url": self._url}])
        return context

    def close(self) -> None:
        """Ends their browsers."""
        for context in self._contexts.values():
            context.close()
        self._contexts.clear()

    def walk(self, row: Walk) -> Iterator[Outcome]:
        """Each intent of a walk; after a fault somebody else comes for those that are left."""
        project = self._projects.of(everything()[row.asked])
        actor: Actor | None = None
        last = self._last(project, 0)
        for intent in row.intents:
            began = time.monotonic()
            if actor is None and intent.end == "change":
                continue  # there is nothing to change
            try:
                actor = actor or self._come(row, project)
                outcome = self._intent(actor, intent, project, last)
            except (LostError, Error) as error:
                outcome = Outcome(intent, row.world, str(error).partition("\nCall log")[0].splitlines()[0])
            if outcome.fault and actor:
                stored = [(task, info) for _, task, info in self._projects.rows(project, last)]
                outcome = attrs.evolve(outcome, picture=self._picture(actor, intent), stored=outcome.stored or stored)
            if outcome.fault or outcome.refused:
                actor = None
            last = self._last(project, last)
            yield attrs.evolve(outcome, seconds=time.monotonic() - began)
        self._leave(self._contexts[row.world.browser])

    def _last(self, project: Project, after: int) -> int:
        return max((number for number, _, _ in self._projects.rows(project, after)), default=after)

    def _come(self, row: Walk, project: Project) -> Actor:
        self._projects.site.loaded.clear()
        page = self.context(row.world).new_page()
        actor = Actor(
            page,
            row.world,
            everything()[row.asked],
            Random(f"hand {row.seed}"),
            project.tasks,
            self._projects.site,
            self._projects.account,
        )
        page.goto(f"{self._url}/project/{project.short_name}/newtask")
        actor.frame = actor.eyes.frame()
        if row.world.slow > 1:
            self._slow(page, actor.frame, row.world.slow)
        return actor

    def _slow(self, page: Any, frame: Any, times: int) -> None:
        """Slows both processes of a page; they have to be told when it ends, or they go on to be busy with nothing."""
        self._slowed = [page.context.new_cdp_session(each) for each in (page, frame)]
        for line in self._slowed:
            line.send("Emulation.setCPUThrottlingRate", {"rate": times})

    def _leave(self, context: Any) -> None:
        for line in self._slowed:
            with contextlib.suppress(Error):
                line.send("Emulation.setCPUThrottlingRate", {"rate": 1})
                line.detach()
        self._slowed = []
        for page in context.pages:
            if page.url != NOTES:
                page.close()

    def _picture(self, actor: Actor, intent: Intent) -> str:
        path = self._pictures / f"{intent.seed}-{intent.number}.png"
        try:
            actor.page.screenshot(path=path)
        except Error:
            return ""
        return str(path)

    def _intent(self, actor: Actor, intent: Intent, project: Project, last: int) -> Outcome:
        if intent.end != "change":
            actor.begin()
        before = self._projects.rows(project, last - 1) if intent.end == "change" else []
        for about in intent.acts:
            ACTS[about["do"]](actor, about)
        meant = _resolved(intent.answer, actor)
        if intent.end == "change":
            return self._changed(actor, intent, project, before, meant)
        refused = self._sent(actor)
        if refused:
            fault = "" if intent.refusable else f"refused: {refused}"
            return Outcome(intent, actor.world, fault, refused=refused)
        rows = self._rows(actor, project, last, 0 if intent.end == "skip" else 1)
        if len(rows) != (intent.end == "send"):
            return Outcome(intent, actor.world, f"{len(rows)} rows are stored", [info for _, _, info in rows])
        if intent.end == "skip":
            return Outcome(intent, actor.world)
        _, task, info = rows[0]
        if str(task) not in actor.place and any(number in actor.place for number in project.tasks):
            return Outcome(intent, actor.world, f"stored for task {task}, “{actor.place}” was shown", info)
        return Outcome(intent, actor.world, "; ".join(differences(meant, info, actor.grain)), info, meant=meant)

    def _sent(self, actor: Actor) -> str:
        """Waits for the next task; the sentence that is seen instead where the answer is refused."""

        def gone() -> str:
            if actor.moved_on():
                return "gone"
            return "\n".join(actor.eyes.messages())

        words = actor.eyes.until(
            gone, "an act without effect: nothing happens after sending", 10.0 * min(actor.world.slow, 3)
        )
        return "" if words == "gone" else words

    def _rows(self, actor: Actor, project: Project, last: int, wanted: int) -> Any:
        end = time.monotonic() + STORED
        while len(rows := self._projects.rows(project, last)) < wanted and time.monotonic() < end:
            actor.page.wait_for_timeout(30)
        if wanted == 0 or actor.trembled:
            actor.page.wait_for_timeout(400)
            rows = self._projects.rows(project, last)
        return rows

    def _changed(self, actor: Actor, intent: Intent, project: Project, before: Any, meant: Json) -> Outcome:
        (number, _, _), wrong = before[-1], [""]
        end = time.monotonic() + STORED
        info: Any = None
        while wrong and time.monotonic() < end:
            actor.page.wait_for_timeout(50)
            if words := [] if actor.moved_on() else actor.eyes.messages():
                if intent.refusable:
                    return Outcome(intent, actor.world, refused="\n".join(words))
                wrong = [f"refused: {words[0]}"]
                break
            (_, _, info), *others = self._projects.rows(project, number - 1)
            wrong = differences(meant, info, actor.grain) + [f"{len(others)} more rows" for _ in others[:1]]
        if not wrong:
            actor.eyes.until(actor.moved_on, "no next task after a change")
        return Outcome(intent, actor.world, "; ".join(wrong), info)


def _resolved(answer: Json, actor: Actor) -> Json:
    """The answer with shapes in the terms of the medium, as it was seen when they were drawn."""
    return {
        name: [_mark(name, each, actor) for each in value] if _is_marks(value) else value
        for name, value in answer.items()
    }


def _is_marks(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _mark(name: str, mark: Json, actor: Actor) -> Json:
    rest = {key: value for key, value in mark.items() if key != "shape"}
    return {**rest, **(actor.meant.get((name, str(mark["shape"])), {}) if "shape" in mark else {})}
