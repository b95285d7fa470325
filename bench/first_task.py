"""How soon a task is there in a browser that knows nothing: all templates and examples, three lines, two processors.

    python -m bench.first_task [--rounds 5] [--few] [--only NAME …] [--line NAME …] [--cpu N …]

A row has the median of its rounds: requests and kilobytes until the task can be answered, when its question was first
painted (in the page or in the frame), when it could be answered, how far things moved, and how long the first press
waited.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import attrs
import click
import orjson
from playwright.sync_api import sync_playwright
from support.person import Person
from support.servers.chromium import binary
from support.servers.live import BIN, LiveServer

from bench import ROOT
from bench.support import testbed

FOLDERS: Final = (ROOT / "crowdd" / "features" / "gallery" / "library", ROOT / "examples")
# A presenter's frame has a process of its own, which is not on the slow line unless it shares that of its page.
FLAGS: Final = ("--no-sandbox", "--disable-gpu", "--disable-features=IsolateSandboxedIframes")
ENOUGH, TASKS = 1000, 60  # answers to each task, and tasks: a network of volunteers is never at the end
PATIENCE: Final = 90_000  # milliseconds


@attrs.frozen
class Line:
    """A connection as Chromium's tools emulate it: milliseconds that each answer takes, and bytes in a second."""

    name: str
    latency: float
    down: float
    up: float

    @property
    def emulated(self) -> dict[str, Any]:
        """What Chromium is told."""
        return {
            "offline": False, "latency": self.latency, "downloadThroughput": self.down, "uploadThroughput": self.up,
        }  # fmt: skip


LINES: Final = (
    Line("none", 0, -1, -1),
    Line("Fast 3G", 562.5, 180_000, 84_375),
    Line("Slow 3G", 2000, 50_000, 50_000),
)
FEW: Final = (
    "sort-pictures",
    "boxes",
    "place-on-map",
    "sound-events",
    "names-and-places",
)  # one of each kind of question
FEW_REQUESTS: Final = 12
MAX_REQUESTS: Final = 16
MAX_READY: Final = {("Fast 3G", 1): 2500.0, ("Fast 3G", 6): 3500.0}
MAX_PAINTED: Final = {("Slow 3G", 1): 4000.0}
MAX_SHIFT, MAX_DELAY = 0.02, 100.0

# In each document: when the question was painted, when it could be answered, what moved, how the first press waited.
_WATCH = """{
window.seen = { painted: 0, ready: 0, shift: 0, delay: -1 };
const each = (type, act) => new PerformanceObserver((list) => list.getEntries().forEach(act))
  .observe({ type, buffered: true });
each("layout-shift", ({ value, hadRecentInput }) => { if (!hadRecentInput) seen.shift += value; });
each("first-input", ({ processingStart, startTime }) => { seen.delay = processingStart - startTime; });
const CONTROLS = "button, input, textarea, select";
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const isComplete = (image) => image.complete && image.naturalWidth > 0;
function isReady() {
  const form = document.querySelector("form.say, form#question");
  if (!form?.querySelector(CONTROLS) || form.matches(".moving")) return false;
  if (form.querySelector(".answers[inert], .waiting")) return false;
  if (!all(".question:not([hidden]) > .field", form).every((field) => field.querySelector(CONTROLS))) return false;
  if (document.querySelector(".drawable") && !document.querySelector("[class*=a9s-annotationlayer]")) return false;
  const pictures = all(".see img").filter((image) => image.offsetParent && !image.closest(".map"));
  return pictures.every(isComplete);
}
let last = -99;
(function look(now = 0) {
  if (now - last < 30) return requestAnimationFrame(look);
  last = now;
  const { body } = document, then = (name) => requestAnimationFrame(() => { seen[name] ||= Date.now(); });
  if (!seen.painted && body?.innerText.includes(wanted)) then("painted");
  if (!seen.ready && window !== top && body && isReady()) then("ready");
  if (!seen.painted || !seen.ready) requestAnimationFrame(look);
})();
}"""


@attrs.frozen
class Project:
    """A template or an example: what it is called, its first question, and the types of its questions and media."""

    name: str
    question: str
    types: frozenset[str]

    @property
    def max_requests(self) -> int:
        """How many requests its first task may need."""
        marks = {"box", "point", "line", "polygon", "freehand", "count", "transcription", "text_spans"}
        media = {"sound", "video", "map", "zoom_picture"}
        timed = any("segments" in kind or kind.startswith("map") for kind in self.types)
        return MAX_REQUESTS if timed or self.types & (marks | media) else FEW_REQUESTS


@attrs.frozen
class Visit:
    """One visit: milliseconds from the beginning of the page, and what was needed."""

    requests: int
    kilobytes: float
    painted: float
    ready: float
    shift: float
    delay: float


def folders(only: Sequence[str]) -> list[Path]:
    """The folders of templates and examples, or those that are named."""
    every = [path for folder in FOLDERS for path in sorted(folder.iterdir()) if path.is_dir()]
    return [path for path in every if not only or path.name in only]


def declared(folder: Path) -> Project:
    """What a folder asks."""
    project = orjson.loads((folder / "project.json").read_bytes())
    steps = (project["info"].get("questions") or {"steps": []})["steps"]
    asked = [question for step in steps for question in step.get("questions", [])]
    kinds = {each["type"] for each in asked} | {each["type"] for step in steps for each in step.get("media", [])}
    text = asked[0]["text"] if asked else "Which digit is this?"
    return Project(project["short_name"], text if isinstance(text, str) else text["en"], frozenset(kinds))


def load(server: LiveServer, paths: Sequence[Path], owner: str = "owner") -> list[Project]:
    """Loads and publishes them, with tasks enough for every visitor."""
    Person(server.url).register(owner)
    for path in paths:
        copy = shutil.copytree(path, server.data / "copies" / path.name)
        project = orjson.loads((path / "project.json").read_bytes())
        (copy / "project.json").write_bytes(orjson.dumps({**project, "n_answers": ENOUGH}))
        tasks = [orjson.loads(line) for line in (path / "tasks.ndjson").read_bytes().splitlines() if line]
        infos = [task.get("info", task) for task in tasks]
        rows = ({"info": {**infos[n % len(infos)], "visit": n}, "n_answers": ENOUGH} for n in range(TASKS))
        (copy / "tasks.ndjson").write_bytes(b"\n".join(map(orjson.dumps, rows)))
        command = [BIN / "crowdctl", "project", "load", str(copy), "--owner", owner, "--publish"]
        subprocess.run(command, env=server.environment, check=True, capture_output=True)
    return [declared(path) for path in paths]


def visit(chromium: Any, url: str, project: Project, line: Line, cpu: int) -> Visit:
    """A new browser begins with a project."""
    context = chromium.new_context(viewport={"width": 390, "height": 844})
    context.add_init_script(f"window.wanted = {orjson.dumps(project.question).decode()};{_WATCH}")
    page = context.new_page()
    tools = context.new_cdp_session(page)
    tools.send("Network.enable")
    if line.latency:
        tools.send("Network.emulateNetworkConditions", line.emulated)
    if cpu > 1:
        tools.send("Emulation.setCPUThrottlingRate", {"rate": cpu})
    asked: list[Any] = []
    sizes: list[float] = []
    page.on("request", lambda request: asked.append(request))  # noqa: PLW0108 - Playwright keeps a mark on a function
    tools.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    page.goto(f"{url}/project/{project.name}/newtask", wait_until="commit")
    began = page.evaluate("performance.timeOrigin")
    frame = page.wait_for_selector("#presenter iframe", timeout=PATIENCE, state="attached").content_frame()
    frame.wait_for_function("window.seen && seen.ready", timeout=PATIENCE)
    kilobytes = sum(sizes) / 1000
    frame.locator("form :is(button, input, textarea):visible").first.click(timeout=PATIENCE)
    frame.wait_for_timeout(300)
    inside, outside = frame.evaluate("seen"), page.evaluate("seen")
    context.close()
    needed = [each.url for each in asked if each.timing["startTime"] <= inside["ready"]]  # no later ones
    static = {each for each in needed if "/static/" in each}  # what the page has loaded, the frame gets from it
    requests = len(static) + sum("/static/" not in each for each in needed)
    painted = min(when for when in (inside["painted"], outside["painted"]) if when)
    return Visit(requests, kilobytes, painted - began, inside["ready"] - began, inside["shift"], inside["delay"])


def violations(project: Project, line: Line, cpu: int, row: Visit) -> Iterator[str]:
    """What is more than promised."""
    limits = (
        ("requests", row.requests, project.max_requests),
        ("painted", row.painted, MAX_PAINTED.get((line.name, cpu))),
        ("ready", row.ready, MAX_READY.get((line.name, cpu))),
        ("shift", row.shift, MAX_SHIFT),
        ("delay", row.delay, MAX_DELAY),
    )
    for name, value, limit in limits:
        if limit is not None and value > limit:
            yield f"{project.name}, {line.name}, CPU/{cpu}: {name} {value:.3g}, at most {limit:g}"


def median(visits: Sequence[Visit]) -> Visit:
    """The median of each figure."""
    return Visit(*(statistics.median(values) for values in zip(*map(attrs.astuple, visits), strict=True)))


@click.command()
@click.option("--rounds", default=5, show_default=True)
@click.option("--only", multiple=True, help="A template or an example.")
@click.option("--few", is_flag=True, help="One of each kind of question.")
@click.option("--line", "lines", multiple=True, type=click.Choice([line.name for line in LINES]))
@click.option("--cpu", "cpus", multiple=True, type=int, help="How many times slower the processor is.")
def main(rounds: int, only: Sequence[str], few: bool, lines: Sequence[str], cpus: Sequence[int]) -> None:
    """Measure, and end with 1 when a median is above what is promised."""
    bad: list[str] = []
    with (
        testbed.folder() as place,
        testbed.postgres(place) as postgres,
        testbed.crowdd(postgres.dsn, place) as server,
        sync_playwright() as playwright,
    ):
        projects = load(server, folders(only or (FEW if few else ())))
        chromium = playwright.chromium.launch(executable_path=binary(), args=list(FLAGS))
        visit(chromium, server.url, projects[0], LINES[0], 1)  # the server's first page is not counted
        print(f"{'':22}{'':9}{'CPU':>5}{'req':>5}{'kB':>6}{'painted':>9}{'ready':>7}{'shift':>8}{'delay':>7}")
        for project in projects:
            for line in LINES:
                if lines and line.name not in lines:
                    continue
                for cpu in cpus or (1, 6):
                    row = median([visit(chromium, server.url, project, line, cpu) for _ in range(rounds)])
                    bad += violations(project, line, cpu, row)
                    print(
                        f"{project.name:22}{line.name:9}{cpu:>5}{row.requests:>5.0f}{row.kilobytes:>6.0f}"
                        f"{row.painted:>9.0f}{row.ready:>7.0f}{row.shift:>8.3f}{row.delay:>7.1f}",
                        flush=True,
                    )
        chromium.close()
    print("\n".join(bad) or "Nothing violated.")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
