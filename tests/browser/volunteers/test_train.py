"""Tasks that are taken along: the page opens again without a line, and what was answered is sent once and in order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from profiles import LOOK, Profile, answer, stored
from support.checks.shows import shows
from support.person import Person

pytestmark = [pytest.mark.browser, pytest.mark.proof]
PATIENCE: Final = 600.0
PICTURES: Final = {
    "version": 1,
    "steps": [
        {
            "name": "look",
            "media": [{"name": "photo", "type": "picture", "source": {"column": "url_b"}, "description": "A mark"}],
            "questions": LOOK["steps"][0]["questions"],
        }
    ],
}


@contextmanager
def browser_of(browser: Any, folder: Path, url: str, person: Person | None = None) -> Iterator[Profile]:
    profile = Profile(browser.browser_type, folder, url)
    if person:
        profile.context.add_cookies(person.cookies(url))
    try:
        yield profile
    finally:
        profile.kill()


def take_along(page: Any) -> None:
    """Presses the button in the help of a task page, and waits until the page can be closed."""
    page.click("#help-open")
    page.click("#take-along")
    page.locator("#along-said", has_text="without a connection, also").wait_for()
    page.click("#help-close")


LEFT: Final = """async () => [
    ...await caches.keys(), ...(await indexedDB.databases()).map(({ name }) => name),
    ...(await navigator.serviceWorker.getRegistrations()).map(({ scope }) => scope),
    ...Object.keys(localStorage).filter((key) => /along|presenter/.test(key)),
]"""
"""What a browser has of tasks that were taken along."""


@pytest.fixture
def rider(live_server: Any, new_project: Any) -> Person:
    return Person(live_server.url).register(f"rider{new_project(tasks=1).id}")


@shows("tasks-along")
def test_a_train_ride(browser: Any, live_server: Any, new_project: Any, tmp_path: Path, rider: Person) -> None:
    project = new_project(tasks=30)
    project.show(questions=PICTURES)
    with browser_of(browser, tmp_path / "profile", live_server.url, rider) as profile:
        frame = profile.begin(project.short_name)
        answers = [answer(profile, frame, True)]
        take_along(profile.page)
        for hours, number in ((0.3, 3), (0.9, 4)):
            at = f"task/{answers[-1][0]}" if len(answers) > 1 else "newtask"  # as a browser restores its tabs
            profile.kill()
            profile.open(hours=hours, off=True)
            frame = profile.begin(project.short_name, at)
            assert "you took along" in profile.until(lambda: profile.page.inner_text("#ride"))
            for n in range(number):
                assert profile.until(lambda: frame.evaluate("document.querySelector('img')?.naturalWidth"))  # noqa: B023
                answers.append(answer(profile, frame, n % 2 == 0))
        profile.until(lambda: "7 " in profile.page.inner_text("#unsent"))
        profile.page.goto(f"{live_server.url}/app/")
        assert "Answers that wait: 7." in profile.until(lambda: profile.page.inner_text("#rides"))
        assert len(stored(project)) == 1
        profile.cut(False)
        profile.begin(project.short_name)
        profile.until(lambda: len(stored(project)) == len(answers) and profile.page.is_hidden("#offline"))
    assert stored(project) == answers  # in order, each once


@shows("tasks-along-late")
def test_what_comes_too_late_is_said(
    browser: Any, live_server: Any, new_project: Any, tmp_path: Path, rider: Person
) -> None:
    project = new_project(tasks=8, n_answers=1)
    project.show(questions=LOOK)
    with browser_of(browser, tmp_path / "profile", live_server.url, rider) as profile:
        profile.begin(project.short_name)
        take_along(profile.page)
        profile.kill()
        profile.open(off=True)
        task, yes = answer(profile, profile.begin(project.short_name), True)
        # Meanwhile the lease is gone, and somebody else has answered.
        rider.api("POST", f"task/{task}/release", {})
        other = Person(live_server.url).register(f"other{project.id}")
        other.api("POST", f"task/{task}/lease", {})
        other.api("POST", "taskrun", {"project_id": project.id, "task_id": task, "info": {"it": False}})
        profile.cut(False)
        profile.until(lambda: "after their time: 1" in profile.page.inner_text("#ride"))
        assert sorted(stored(project)) == sorted([(task, False), (task, yes)])
        profile.kill()
        profile.open(hours=1.1, off=True)
        profile.page.goto(f"{live_server.url}/project/{project.short_name}/newtask")
        profile.until(lambda: "whose time is over: 7" in profile.page.inner_text("#ride"))
        profile.page.locator("#ride-more").wait_for()


@shows("tasks-along-account")
def test_nothing_is_left_after_signing_out(
    browser: Any, live_server: Any, new_project: Any, tmp_path: Path, rider: Person
) -> None:
    project = new_project(tasks=8)
    project.show(questions=LOOK)
    with browser_of(browser, tmp_path / "profile", live_server.url, rider) as profile:
        frame = profile.begin(project.short_name)
        take_along(profile.page)
        profile.context.route("**/api/taskrun*", lambda route: route.abort())
        answer(profile, frame, True)
        asked: list[str] = []
        profile.page.on("dialog", lambda dialog: (asked.append(dialog.message), dialog.accept()))
        profile.page.goto(live_server.url)
        assert profile.page.evaluate(LEFT)
        profile.page.click("summary[aria-label^='Your account']")
        with profile.page.expect_navigation():
            profile.page.click("button[form=sign-out]")
        assert any("lost" in words for words in asked)
        assert profile.page.evaluate(LEFT) == []
    assert stored(project) == []


@shows("tasks-along-account")
def test_another_account_finds_nothing_and_sends_nothing(
    browser: Any, live_server: Any, new_project: Any, tmp_path: Path, rider: Person
) -> None:
    project = new_project(tasks=20)
    project.show(questions=LOOK)
    other = Person(live_server.url).register(f"other{project.id}")
    with browser_of(browser, tmp_path / "profile", live_server.url, rider) as profile:
        profile.begin(project.short_name)
        take_along(profile.page)
        profile.kill()
        profile.open(off=True)
        waits = answer(profile, profile.begin(project.short_name), True)
        profile.kill()
        profile.open()
        profile.context.clear_cookies()
        profile.context.add_cookies(other.cookies(live_server.url))
        profile.page.goto(live_server.url)  # any page will do
        profile.until(lambda: not [each for each in profile.page.evaluate(LEFT) if "along" in each or "http" in each])
        profile.begin(project.short_name)
        profile.page.reload()
        profile.task()
        assert stored(project) == []
        profile.context.clear_cookies()
        profile.context.add_cookies(rider.cookies(live_server.url))
        profile.begin(project.short_name)
        profile.until(lambda: stored(project) == [waits])


def test_without_a_worker_the_page_works_as_before(
    browser: Any, live_server: Any, new_project: Any, tmp_path: Path
) -> None:
    project = new_project(tasks=20)
    project.show(questions=LOOK)
    with browser_of(browser, tmp_path / "profile", live_server.url) as profile:
        profile.page.add_init_script(
            "delete Navigator.prototype.serviceWorker; delete window.caches"
        )  # as on plain http
        frame = profile.begin(project.short_name)
        answers = [answer(profile, frame, True)]
        profile.page.click("#help-open")
        profile.page.click("#take-along")
        profile.until(lambda: "Keep this page open" in profile.page.inner_text("#along-said"))
        profile.cut(True)
        answers += [answer(profile, frame, n % 2 == 0) for n in range(3)]
        profile.cut(False)
        profile.until(lambda: profile.page.is_hidden("#offline"))
    assert stored(project) == answers


# What presenters try: the name, the script, and what it may get.
ATTACKS: Final[dict[str, tuple[str, list[Any]]]] = {
    "register the worker": ("String(await navigator.serviceWorker.register('/app/worker.js'))", ["SecurityError"]),
    "register it for another project": (
        "String(await navigator.serviceWorker.register('/app/worker.js?project=VICTIM', {scope: '/project/VICTIM/newtask'}))",
        ["SecurityError"],
    ),
    "register a blob": (
        "String(await navigator.serviceWorker.register(URL.createObjectURL(new Blob(['1'], {type: 'text/javascript'}))))",
        ["SecurityError", "TypeError"],
    ),
    "register a file of ours": (
        "String(await navigator.serviceWorker.register('/static/presenter/prelude.js'))",
        ["SecurityError"],
    ),
    "list the workers": ("(await navigator.serviceWorker.getRegistrations()).length", ["SecurityError"]),
    "remove the workers": (
        "for (const one of await navigator.serviceWorker.getRegistrations()) await one.unregister()",
        ["SecurityError"],
    ),
    "talk to the worker": ("navigator.serviceWorker.controller.postMessage('x')", ["SecurityError", "TypeError"]),
    "start the worker's script": (
        "String(new SharedWorker('/app/worker.js'))",
        ["SecurityError", "[object SharedWorker]"],
    ),
    "write the cache": (
        "await (await caches.open('along RELEASE')).put('/project/VICTIM/newtask', new Response('poison'))",
        ["SecurityError"],
    ),
    "read the cache": ("await (await caches.match('/project/VICTIM/newtask')).text()", ["SecurityError"]),
    "delete the cache": ("await caches.delete('along RELEASE')", ["SecurityError"]),
    "open the database": (
        "await new Promise((ok, no) => { const r = indexedDB.open('answers'); r.onsuccess = ok; r.onerror = () => no(r.error) })",
        ["SecurityError"],
    ),
    "delete the database": (
        "await new Promise((ok, no) => { const r = indexedDB.deleteDatabase('answers'); r.onsuccess = ok; r.onerror = () => no(r.error) })",
        ["SecurityError"],
    ),
    "list the databases": ("await indexedDB.databases()", ["SecurityError", "UnknownError"]),
    "files of the site": ("String(await navigator.storage.getDirectory())", ["SecurityError"]),
    "read the worker": ("await (await fetch('/app/worker.js')).text()", ["TypeError"]),
    "read it as a browser does": (
        "await (await fetch('/app/worker.js', {headers: {'Service-Worker': 'script'}, credentials: 'include'})).text()",
        ["TypeError"],
    ),
    "import the worker": ("await import('/app/worker.js')", ["TypeError"]),
    "read another project's document": (
        "await (await fetch('/project/VICTIM/along', {credentials: 'include'})).text()",
        ["TypeError"],
    ),
    "over the bridge": (
        "(await Promise.all(['/app/worker.js', '/project/VICTIM/along', '/api/../app/'].map((u) => presenterBridge.api('GET', u)))).map((r) => r.status).join()",
        ["403,403,403"],
    ),
    "a frame with the worker's document": (
        "await (async () => { const f = document.createElement('iframe'); f.src = '/project/VICTIM/newtask?_presenter=along'; document.body.append(f);"
        " await new Promise((ok) => f.onload = ok); return f.contentDocument === null || f.contentDocument.body.textContent })()",
        [True],
    ),
    "say that people signed out": (
        "new BroadcastChannel('pages').postMessage('signed-out') ?? 'said'",
        ["said", "SecurityError"],
    ),
    "say whose tasks they are": (
        "localStorage.setItem('along', 'somebody') ?? (delete window.localStorage, window.localStorage === undefined || 'own')",
        [True, "own", "SecurityError"],
    ),
    "words of the page": (
        "['presenter:along', 'presenter:ride', 'presenter:signed-out'].forEach((word) => { document.dispatchEvent(new CustomEvent(word));"
        " parent.postMessage(word, '*'); parent.postMessage(JSON.stringify({ op: 'media', files: {} }), '*') }) ?? 'said'",
        ["said"],
    ),
}
STATE: Final = """async () => {
  const cache = await caches.open((await caches.keys())[0]), pages = [];
  for (const { url } of await cache.keys()) pages.push([url, await (await cache.match(url)).text()]);
  const rows = await new Promise((ok) => { const r = indexedDB.open("answers"); r.onsuccess = () => {
    const all = r.result.transaction("tasks").objectStore("tasks").getAllKeys();
    all.onsuccess = () => { r.result.close(); ok(all.result); };
  } });
  const scopes = (await navigator.serviceWorker.getRegistrations()).map(({ scope }) => scope);
  return { names: await caches.keys(), pages, rows, scopes, along: localStorage.along };
}"""


@pytest.fixture(scope="module")
def attacked(make_stage: Any, new_project: Any) -> Any:
    """What the attacks of one presenter got, and the state of the browser before and after."""
    stage, victim = make_stage(), new_project(tasks=20)
    stage.sign_in(stage.mine.owner)
    victim.show(questions=LOOK)
    stage.go(f"/project/{victim.short_name}/newtask")
    stage.frame()
    take_along(stage.page)
    before = stage.page.evaluate(STATE)
    written = [f"[{name!r}, async () => {{ return {script} }}]" for name, (script, _) in ATTACKS.items()]
    written = [one.replace("{ return for", "{ for") for one in written]
    scene = """<p>h</p><script>addEventListener("load", async () => { window.got = {};
      for (const [name, attack] of [LIST]) try { got[name] = (await attack()) ?? null } catch (error) { got[name] = error.name }
      console.log("attack over"); })</script>"""
    scene = scene.replace("LIST", ",".join(written)).replace("VICTIM", victim.short_name)
    stage.show(scene.replace("RELEASE", before["names"][0].removeprefix("along ")))
    stage.until(lambda: "attack over" in stage.console)
    stage.settle(1)
    got = stage.frame().evaluate("got")
    stage.go("/")
    return got, before, stage.page.evaluate(STATE), stage, victim


@shows("tasks-along-presenters")
@pytest.mark.parametrize("name", ATTACKS)
def test_attacks_of_a_presenter_on_the_worker_fail(attacked: Any, name: str) -> None:
    got, before, after, *_ = attacked
    assert got[name] in ATTACKS[name][1]
    assert after == before and len(before["scopes"]) == 3 and before["rows"]


@shows("tasks-along-presenters")
def test_the_attacked_page_opens_without_a_line(attacked: Any) -> None:
    *_, stage, victim = attacked
    assert len(ATTACKS) >= 20
    stage.context.set_offline(True)
    stage.go(f"/project/{victim.short_name}/newtask")
    stage.frame().get_by_role("button", name="Yes").wait_for()
    assert stage.frame().evaluate("[origin, document.cookie]")[0] == "null"
    stage.context.set_offline(False)
