"""Browsers of one person each that are killed and opened again, with the files that they had."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, Final

from presenter_page import frame_in
from support.servers.chromium import FLAGS, binary

LOOK: Final = {
    "version": 1,
    "steps": [{"name": "look", "questions": [{"name": "it", "type": "yes_no", "text": "Is it so?", "required": True}]}],
}
_KEPT: Final = """window.keptTasks = [];
window.presses = 0;
addEventListener("click", () => presses++, true);
document.addEventListener("presenter:saved", ({ detail }) => keptTasks.push(Number(detail.task)));
document.addEventListener("presenter:waiting", ({ detail }) => detail.task && keptTasks.push(Number(detail.task)));"""


class Profile:
    """A browser of one person, whose files outlive it."""

    def __init__(self, playwright_type: Any, folder: Path, url: str) -> None:
        self._type, self._folder, self._url = playwright_type, folder, url
        self._losing = False
        self._cookies: list[Any] = []
        self.open()

    def open(self, hours: float = 0, off: bool = False) -> None:
        """Begins it, or begins it again, so many hours later by its own clock, and without a line if ``off``."""
        command = [str(binary()), *FLAGS, "--headless", "--remote-debugging-port=0", f"--user-data-dir={self._folder}"]
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
        assert self._process.stderr is not None
        words = next(line for line in self._process.stderr if "DevTools listening on" in line)
        self._browser = self._type.connect_over_cdp(words.split()[-1])
        self.context = self._browser.contexts[0]
        self.context.add_cookies(self._cookies)
        self.context.route("**/api/taskrun*", self._pass_on)
        self.cut(off)
        self.page = self.context.new_page()
        self.page.add_init_script(_KEPT)
        self.page.add_init_script(f"{{ const now = Date.now; Date.now = () => now() + {int(hours * 3_600_000)}; }}")

    def kill(self) -> None:
        """Ends it at once, as a phone without power. Chromium writes cookies half a minute late: those stay all the same."""
        self._cookies = self.context.cookies()
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._browser.close()

    def lose_next(self) -> None:
        """The next answer reaches the server, and what the server says does not come back."""
        self._losing = True

    def _pass_on(self, route: Any) -> None:
        if self._losing:
            self._losing = False
            route.fetch()
            return route.abort()
        return route.continue_()

    def cut(self, off: bool) -> None:
        self.context.set_offline(off)

    def begin(self, project: str, at: str = "newtask") -> Any:
        """Goes to a project's next task, or to another page of its tasks."""
        self.page.goto(f"{self._url}/project/{project}/{at}")
        return self.until(lambda: frame_in(self.page.query_selector("#presenter iframe")))

    def until(self, look: Any, seconds: float = 60) -> Any:
        """What ``look`` says once it says something."""
        end = time.monotonic() + seconds
        while not (seen := look()):
            assert time.monotonic() < end, "nothing came"
            self.page.wait_for_timeout(30)
        return seen

    def task(self) -> int:
        """The task that is shown."""
        return int(self.until(lambda: "/task/" in self.page.url and self.page.url.rsplit("/", 1)[1]))


def answer(profile: Profile, frame: Any, yes: bool) -> tuple[int, bool]:
    """Presses an answer to the task that is shown, and waits until the page has it."""
    task = profile.task()
    frame.get_by_text(f"Task {task}", exact=True).wait_for()  # the address of the page changes first
    button = (
        frame.get_by_role("button", name="Yes" if yes else "No").and_(frame.locator(":not([aria-pressed=true])")).first
    )

    def press() -> bool:
        """Whether the frame heard it. A notice that comes or goes moves the frame, and a robot then presses beside it."""
        before = frame.evaluate("presses")
        button.click()
        return bool(frame.evaluate("presses") > before)

    profile.until(press)
    profile.until(lambda: profile.page.evaluate("task => keptTasks.includes(task)", task))
    return task, yes


def stored(project: Any) -> list[tuple[int, bool]]:
    """All answers of a project."""
    rows: list[tuple[int, bool]] = []
    while page := project.owner.api("GET", "taskrun", project_id=project.id, limit=100, offset=len(rows), orderby="id"):
        rows += [(row["task_id"], row["info"]["it"]) for row in page]
    return rows
