"""A volunteer's whole traffic, twice: with gold tasks and without. Everything that they are sent is the same, but for ids and times."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import pytest
import pytest_twisted
from matrix.test_gold_exposure import all_addresses
from matrix.test_hidden_columns import HTML
from support.checks.proofs import examples
from support.checks.shows import shows
from support.servers.queue_runner import worked

TASKS, NAMED = 8, (0, 1, 3, 4)  # how many there are, and the places of those that the volunteer answers
GOLD, OTHERS = (0, 3), (1, 4)  # places of the gold tasks, and of others that could be
JSON = {"Content-Type": "application/json", "Accept": "application/json"}
# Times, what is drawn for each request or page, and ids that the order of tasks decides.
_MASKS = [
    (re.compile(pattern), mask)
    for pattern, mask in (
        (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(\+00:00|Z)?", "<time>"),
        (r"\b\d+ (seconds?|minutes?|hours?) ago\b|\bjust now\b", "<ago>"),
        (r'("(?:seconds|seconds_left|average_time|avg_contrib_time|now|updated|timeout)": ?)[\d.]+', r"\1<seconds>"),
        (r'(name="csrf(?:_token)?"[^>]*value=|"csrf(?:_token)?": ?|data-csrf=)"[^"]+"', r"\1<token>"),
        (r"(nonce-|nonce=\"|\"nonce\": ?\")[\w-]+", r"\1<nonce>"),
        (r"127\.0\.0\.1:\d+", "<server>"),
        (r'("volunteer": ?)"[^"]+"', r"\1<code>"),
        (r"\?try=[\w-]+", "?try=<key>"),
        (r"\b1\d{12}\b", "<milliseconds>"),
        (r"(seconds for an answer, on average</dt><dd>)[\d.,]+", r"\1<seconds>"),
        (
            r'(<rect class="bar[^"]*" x="[\d.]+"\s+)y="[\d.]+" width="[\d.]+" height="[\d.]+"',
            r"\1<share>",
        ),  # of active time
        (r"\b\d+ seconds?\b", "<seconds>"),
        (r"(\n\d+,\d*,(?:true|false),\d+,)[\d.e-]+", r"\1<seconds>"),  # of leaderboards, in the export of personal data
        (r"(<title>\w+ \d{4}: )[\d.,]+", r"\1<hours>"),
        (r"[0-9a-f]{15,}|[\w-]{43}", "<drawn>"),  # request ids, codes of volunteers, keys
    )
]
_LEFT_OUT = (
    "date",
    "x-request-id",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "etag",
    "last-modified",
    "content-encoding",
    "content-length",
    "set-cookie",
)


# What is drawn, counts requests of the owner, or depends on when a background task runs (the export of personal data comes last).
_BY_CHANCE = re.compile(r"newtask|^/metrics|/authenticator$|^/account/ada/export|^/api/queue")


def masked(text: str) -> str:
    """A text without times and what is drawn by chance."""
    for pattern, mask in _MASKS:
        text = pattern.sub(mask, text)
    return text


def text_of(response: Any) -> str:
    """What a response says; of a ZIP file what is in it, but for the log whose numbers follow from when others signed in."""
    if not response.body.startswith(b"PK"):
        return str(response.text)
    with ZipFile(BytesIO(response.body)) as file:
        return "\n".join(
            f"{name}\n{file.read(name).decode()}" for name in sorted(file.namelist()) if "security" not in name
        )


class Traffic:
    """What one volunteer asks for, with what they are sent."""

    def __init__(self, served: Any, client: Any, browser: Any) -> None:
        self._served, self._client, self._browser = served, client, browser
        self.seen: list[tuple[str, Any]] = []

    async def ask(
        self,
        method: str,
        path: str,
        body: Any = ...,
        *,
        headers: dict[str, str] | None = None,
        page: bool = False,
        anyone: bool = False,
    ) -> Any:
        """Sends a request and notes what came. ``anyone``: which task it is about is left to chance."""
        client = self._browser if page else self._client
        address, path = path, masked(path)
        response = await client.request(method, address, body, headers=headers)
        text = masked(text_of(response))
        if anyone:
            text = re.sub(r'("id": ?|/api/task/)\d+', r"\1<any>", text)
        sent = {k.decode().lower(): masked(str(v)) for k, v in response.headers.getAllRawHeaders()}
        shown = {k: v for k, v in sent.items() if k not in _LEFT_OUT}
        self.seen.append((f"{method} {path}", (response.status, shown, text)))
        tag = response.header("etag")
        if method == "GET" and tag and not anyone:
            again = await client.request(method, address, headers={**(headers or {}), "If-None-Match": tag})
            self.seen.append((f"{method} {path} again", again.status))
        return response

    async def look(self, paths: list[str]) -> None:
        """Asks for all of these, as a program and as a browser.

        Leaderboards are counted before: the job that does it begins after a minute, which only a busy machine needs.
        """
        for work in ("fold_stats()", "measure_paces()", "count_boards()"):
            await self._served.database.fetch(f"SELECT {work}")
        for path in paths:
            await self.ask("GET", path, headers=None if path.startswith("/api") else JSON)
            if not path.startswith("/api") and not path.endswith("/live"):  # a stream for browsers
                await self.ask("GET", path, headers=HTML, page=True)

    async def shift(self, seconds: int) -> None:
        """Moves the clock of the database."""
        sql = "UPDATE clock_shift SET ahead = ahead + make_interval(secs => %(s)s)"
        await self._served.database.execute(sql, {"s": seconds})


async def played(
    served: Any, *, gold: tuple[int, ...], n_answers: int, name: str, everything: bool = False, full: bool = False
) -> list[tuple[str, Any]]:
    """The traffic of ada, or of an anonymous browser, in a project whose answers are not public.

    ``full``: as many others have answered the tasks before as a task wants.
    """
    owner, ada = await served.person("owner"), await served.person("ada")
    project = await served.project(owner)
    at = project["id"]
    rows = [{"project_id": at, "info": {"question": "Which bird?"}, "n_answers": n_answers} for _ in range(TASKS)]
    tasks = project["tasks"] = [task["id"] for task in (await owner.post("/api/task", json=rows)).json()]
    info = (await owner.get(f"/api/project/{at}")).json()["info"]
    info["answers"] = [{"name": "seen", "at": "/answer", "type": "label", "choices": ["yes", "no"]}]
    assert (await owner.put(f"/api/project/{at}", json={"info": info, "zip_download": False})).status == 200
    assert (await owner.post("/project/birds/publish", json={})).status == 200
    for place in gold:
        made = await owner.post(f"/api/project/{at}/gold", json={"task_id": tasks[place], "answer": "yes"})
        assert made.status == 200, made.text
    for other in [await served.person(f"other{nth}") for nth in range(n_answers if full else 0)]:
        for place in NAMED:
            assert (await other.post(f"/api/task/{tasks[place]}/lease", json={})).json() == {"state": "leased"}
            run = {"project_id": at, "task_id": tasks[place], "info": {"answer": "yes"}}
            assert (await other.post("/api/taskrun", json=run)).status == 200
    await served.database.fetch("SELECT setval(pg_get_serial_sequence('audit', 'id'), 1000)")  # the owner has done more
    client = ada if name == "ada" else served.client()
    browser = await ada.by_session() if name == "ada" else client
    if name != "ada":
        await client.get("/about", headers=HTML)  # makes it a volunteer
    traffic = Traffic(served, client, browser)
    looks = [
        f"/api/project/{at}", f"/api/projectstats?project_id={at}&all=1", f"/api/projectstats/{at}", f"/api/project/{at}/userprogress",
        f"/api/taskrun?project_id={at}&all=1&related=1", f"/api/task?project_id={at}&all=1&related=1", f"/api/task?project_id={at}&all=1&participated=1",
        f"/api/result?project_id={at}&all=1", "/api/project?all=1&orderby=overall_progress", "/api/globalstats", "/api/favorites",
        f"/api/project/{at}/export?type=task_run&format=csv", "/project/birds/live", "/project/birds/", "/project/birds/stats", "/project/birds/embed",
        "/project/birds/tasks/", "/project/birds/results", "/", "/stats/", "/project/category/featured/", "/account/", f"/account/{name}/answers",
        f"/account/{name}/",
    ]  # fmt: skip
    if everything:
        looks = [path for path in await all_addresses(served, project) if not _BY_CHANCE.search(path)]
    await traffic.look(looks)
    await traffic.ask("GET", f"/api/{at}/newtask", anyone=True)
    own = (await client.get(f"/api/{at}/newtask")).json()["id"]
    await client.post(f"/api/task/{own}/release", json={})
    for nth, place in enumerate(NAMED):
        task = tasks[place]
        one, answer = f"/api/task/{task}", {"project_id": at, "task_id": task, "info": {"answer": "yes"}}
        await traffic.ask("POST", f"{one}/lease", {})
        await traffic.ask("GET", f"/api/{at}/newtask")
        await traffic.ask("POST", f"{one}/renew", {})
        await traffic.ask("POST", f"{one}/release", {"skip": nth % 2 == 0})
        await traffic.ask("POST", f"{one}/renew", {})
        await traffic.ask("POST", f"{one}/lease", {})
        await traffic.ask("POST", "/api/favorites", {"task_id": task})
        if nth > 1:
            await traffic.shift(4000)  # an answer that comes late
            await traffic.ask("POST", f"{one}/renew" if nth == 3 else f"{one}/lease", {})
            await traffic.shift(4000)
        await traffic.ask("GET", f"/project/birds/task/{task}", headers=JSON)
        run = (await traffic.ask("POST", "/api/taskrun", answer)).json()
        await traffic.ask("POST", "/api/taskrun", answer)
        await traffic.ask("POST", f"{one}/lease", {})
        await traffic.ask("POST", f"{one}/renew", {})
        await traffic.look([*looks, one])
        now = (await served.database.fetch("SELECT to_char(clock(), 'YYYY-MM-DD\"T\"HH24:MI:SS.US') AS now"))[0]["now"]
        await traffic.ask("GET", f"/api/projectstats?project_id={at}&all=1&at={now}")
        await traffic.ask("POST", f"{one}/correct", {"info": {"answer": "no"}})
        await traffic.ask("POST", f"{one}/correct", {"info": {"answer": "no"}})
        if name == "ada":
            await traffic.ask("PUT", f"/api/taskrun/{run['id']}", {"info": {"answer": "yes"}, "calibration": 1})
            await traffic.ask("GET", f"/api/taskrun/{run['id']}")
        await traffic.look([*looks, one])
        if nth < 2 and name == "ada":
            await traffic.ask("DELETE", f"/api/taskrun/{run['id']}")
            await traffic.look(looks)
            await traffic.ask("POST", f"{one}/lease", {})
            await traffic.ask("POST", "/api/taskrun", answer)
    if name == "ada":
        await client.get("/account/ada/export", headers=JSON)
        await worked(served)
        await traffic.ask("GET", "/account/ada/export/download")
    return traffic.seen


def differences(one: list[tuple[str, Any]], other: list[tuple[str, Any]]) -> Iterator[str]:
    """What differs, a line each: where, with gold tasks, and without."""
    assert [path for path, _ in one] == [path for path, _ in other]
    for (path, with_gold), (_, without) in zip(one, other, strict=True):
        parts = zip(with_gold, without, strict=True) if isinstance(with_gold, tuple) else [(with_gold, without)]
        for this, that in parts:
            if isinstance(this, dict):
                this, that = str(sorted(this.items() - that.items())), str(sorted(that.items() - this.items()))
            if isinstance(this, str) and this != that:
                at = next((n for n, (a, b) in enumerate(zip(this, that, strict=False)) if a != b), 0)
                this, that = this[max(0, at - 120) : at + 60], that[max(0, at - 120) : at + 60]
            if this != that:
                yield f"{path}: {this} | {that}"


async def twins(
    serve: Any, postgres: Any, *golds: tuple[int, ...], **how: Any
) -> tuple[list[tuple[str, Any]], list[tuple[str, Any]]]:
    """The same traffic on two servers with databases of their own, and these gold tasks; both begin early in the same hour."""
    begins = datetime.now(UTC).replace(minute=1, second=0, microsecond=0) + timedelta(hours=1)
    seen = []
    for gold in golds:
        served = await serve(CROWDD_DB_DSN=postgres.make())
        await served.database.execute("UPDATE clock_shift SET ahead = %(begins)s - now()", {"begins": begins})
        seen.append(await played(served, gold=gold, **how))
    return seen[0], seen[1]


@shows("gold-hidden", "gold-progress")
@examples("ada-few")
@pytest.mark.parametrize("everything", [False, True], ids=["few", "everything"])
@pytest.mark.parametrize("name", ["ada", "anonymous"])
@pytest_twisted.ensureDeferred
async def test_traffic_is_the_same_with_gold_tasks_and_without(serve, postgres, name, everything):
    with_gold, without = await twins(serve, postgres, GOLD, (), n_answers=30, name=name, everything=everything)
    assert len(with_gold) > 300
    assert "\n".join(differences(with_gold, without)) == ""


@shows("gold-progress")
@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_figures_are_the_same_where_each_answer_completes_a_task(serve, postgres):
    """Without gold tasks their states say so, and the list of what happened lately: that tells that there are gold tasks, not which."""
    with_gold, without = await twins(serve, postgres, GOLD, (), n_answers=1, name="ada")
    without = [(path, _open(seen)) for path, seen in without]
    lately = "GET /account/: "
    assert "\n".join(each for each in differences(with_gold, without) if not each.startswith(lately)) == ""


@shows("gold-lease", "gold-hidden")
@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_traffic_is_the_same_whichever_tasks_are_gold_where_others_are_full(serve, postgres):
    one, other = await twins(serve, postgres, GOLD, OTHERS, n_answers=2, name="ada", full=True)
    assert "\n".join(differences(one, other)) == ""


def _open(seen: Any) -> Any:
    """What came, with every task open."""
    if not isinstance(seen, tuple):
        return seen
    return (*seen[:2], seen[2].replace('"state":"completed","closed":"complete"', '"state":"ongoing","closed":null'))
