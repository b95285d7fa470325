"""What the tests play on: a project, and a page with its presenter in the frame."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any, TypeVar

from playwright.sync_api import BrowserContext, ElementHandle, Error, Frame, Page
from support.person import Person
from support.until import until_on
from wire import Asked, Elsewhere, Witness

T = TypeVar("T")


def frame_in(box: ElementHandle | None) -> Frame | None:
    """The frame of an iframe whose page has come; None before.

    Until then the frame moves to a process of its own, and what is evaluated in it meanwhile may never return
    (https://github.com/puppeteer/puppeteer/issues/10715).
    """
    frame = box.content_frame() if box else None
    return frame if frame and frame.url not in ("", "about:blank") else None


class Project:
    """A published project with tasks, made over the API by its owner."""

    def __init__(self, owner: Person, name: str, tasks: int, n_answers: int = 1000) -> None:
        self.owner, self.n_answers = owner, n_answers
        body = {
            "name": name,
            "short_name": name,
            "description": f"About {name}",
            "info": {"task_presenter": "<p>x</p>"},
        }
        self.record = owner.api("POST", "project", body)
        self.id, self.short_name = self.record["id"], self.record["short_name"]
        self.tasks: list[int] = []
        self._add(tasks)
        owner.publish(name)

    def add_task(self) -> None:
        self._add(1)

    def _add(self, tasks: int) -> None:
        """At once, in the order of their numbers."""
        body = [
            {
                "project_id": self.id,
                "info": {"n": number, "link": "/", "url_b": f"/static/img/mark.svg?{number}"},
                "n_answers": self.n_answers,
            }
            for number in range(len(self.tasks), len(self.tasks) + tasks)
        ]
        self.tasks += [task["id"] for task in self.owner.api("POST", "task", body)] if body else []

    def show(self, **sources: str | int) -> None:
        """Sets ``task_presenter``, ``tutorial`` or ``results``, or another key of ``info``."""
        self.owner.api("PUT", f"project/{self.id}", {"info": sources})

    def runs(self) -> list[dict[str, Any]]:
        """Its answers, oldest first, at most 100."""
        answers: list[dict[str, Any]] = self.owner.api("GET", "taskrun", project_id=self.id, limit=100, orderby="id")
        return answers


_HANDED = (
    "document.addEventListener('presenter:handed', ({ detail }) => (window.handedTasks ||= []).push(...detail.tasks))"
)


class Stage:
    """A page of a browser, and what the server and the other site saw of it."""

    def __init__(
        self, context: BrowserContext, witness: Witness, elsewhere: Elsewhere, mine: Project, other: Project
    ) -> None:
        self.context, self.witness, self.elsewhere, self.mine, self.other = context, witness, elsewhere, mine, other
        self.console: list[str] = []
        self._visitor: Person | None = None
        self.begin()

    def begin(self) -> None:
        """Raises the curtain: one new page, and nothing seen before."""
        for page in self.context.pages:
            page.close()
        self.page = self.context.new_page()
        self.page.add_init_script(_HANDED)
        self.console.clear()
        self.page.on("console", lambda message: self.console.append(message.text))
        self.page.on("pageerror", lambda error: self.console.append(str(error)))
        self._first_asked = len(self.witness.log)
        self.elsewhere.seen.clear()

    def fill(self, source: str) -> str:
        """``source`` with the ids and names of this stage: OUTSIDE, MINE_ID, MINE_TASK0 …, OTHER_ID, OTHER_TASK0 …"""
        source = source.replace("OUTSIDE", self.elsewhere.url)
        for word, project in (("MINE", self.mine), ("OTHER", self.other)):
            for number, task in enumerate(project.tasks):
                source = source.replace(f"{word}_TASK{number}", str(task))
            source = source.replace(f"{word}_ID", str(project.id)).replace(word, project.short_name)
        return source

    def sign_in(self, person: Person, **attributes: Any) -> None:
        """Gives the browser ``person``'s cookies."""
        self._visitor = person
        self.context.add_cookies(person.cookies(self.witness.url, **attributes))  # type: ignore[arg-type]

    def go(self, path: str) -> None:
        self.page.goto(self.witness.url + self.fill(path))

    def show(self, source: str, path: str = "/project/MINE/newtask") -> Frame:
        """Makes ``source`` the presenter, opens the page, and answers the frame."""
        self.mine.show(task_presenter=self.fill(source))
        self.go(path)
        return self.frame()

    def frame(self, page: Page | None = None) -> Frame:
        """The presenter's frame, once it is loaded; a frame that reloads itself is replaced under our hands."""
        page = page or self.page

        def loaded() -> Frame | None:
            try:
                frame = frame_in(page.wait_for_selector("#presenter iframe"))
                if frame:
                    frame.wait_for_load_state()
                return frame
            except Error:
                return None

        return self.until(loaded)

    def until(self, test: Callable[[], T | None], seconds: float = 45) -> T:
        """What ``test`` answers once it is true; the page's events go on meanwhile.

        A frame that is replaced while one looks into it is looked for again.
        """

        def tried() -> T | None:
            try:
                return test()
            except Error as error:
                if not re.search("was detached|context was destroyed|has been closed", str(error)):
                    raise
                return None

        outcome: T = until_on(self.page, tried, seconds, lambda: self.console[-5:])
        return outcome

    def handed(self) -> list[int]:
        """The tasks that the page knows to have been given to its volunteer, since it was loaded."""
        return list(self.page.evaluate("window.handedTasks || []"))

    def settle(self, quiet: float = 1) -> None:
        """Waits until nothing was asked and nothing was said for ``quiet`` seconds: what had to happen has.

        It looks at nothing inside the page: what Playwright evaluates there counts as a click of the volunteer.
        """
        seen, since = None, time.monotonic()
        end = since + 120
        while time.monotonic() < since + quiet:
            assert time.monotonic() < end, f"still busy after 120 s: {self.asked()[-3:]}, {self.console[-3:]}"
            self.page.wait_for_timeout(50)
            pages = [page.url for page in self.context.pages]
            now = (len(self.witness.log), len(self.elsewhere.seen), len(self.console), pages)
            if now != seen:
                seen, since = now, time.monotonic()

    def path(self) -> str:
        return self.page.url.removeprefix(self.witness.url)

    def runs(self) -> list[dict[str, Any]]:
        """The answers that came in."""
        return self.mine.runs()

    def asked(self) -> list[Asked]:
        """The requests since the curtain rose."""
        return self.witness.log[self._first_asked :]

    def press_out_of_frame(self, key: str) -> None:
        """Presses a key of the page while the frame has the focus: the first press takes it out, the second acts."""
        self.page.keyboard.press(key)
        self.until(lambda: self.page.evaluate("document.activeElement.id") == "main")
        self.page.keyboard.press(key)

    def usable(self) -> bool:
        return self.page.locator("#leave").get_attribute("href") == f"/project/{self.mine.short_name}/"

    def unharmed(self) -> None:
        """What must hold after every hostile presenter."""
        assert self.other.runs() == []
        for asked in self.asked():  # identity goes out with our own page's requests only
            assert not asked.header("cookie") or asked.header("sec-fetch-site") in ("same-origin", "none"), asked
        secrets = [each.value or "" for each in self.mine.owner.jar] + [self.mine.owner.key]
        assert not [seen for seen in self.elsewhere.seen if any(secret in seen for secret in secrets)]
        assert self.page.url.startswith(f"{self.witness.url}/project/{self.mine.short_name}/")
        assert len(self.context.pages) == 1
        assert self.usable()
        assert self.still_signed_in()

    def still_signed_in(self) -> bool:
        return not self._visitor or self._visitor.profile().get("user", {}).get("name") == self._visitor.name
