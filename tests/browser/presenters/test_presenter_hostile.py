"""Presenters that attack. Each runs in the page of the project's owner, signed in; nothing may come of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from presenters import SIMPLE
from support.checks.proofs import examples
from support.checks.shows import shows

pytestmark = pytest.mark.browser


def read_attacks() -> dict[str, tuple[str, Any]]:
    """Name -> (script, what `result` must be), from attacks.js."""
    parts = (Path(__file__).parents[1] / "attacks.js").read_text().split("\n/// ")[1:]
    attacks = {}
    for part in parts:
        head, _, script = part.partition("\n")
        name, _, expected = head.partition(" => ")
        attacks[name] = (script.strip(), json.loads(expected))
    return attacks


ATTACKS = read_attacks()
# The page asks for tasks that are in its address or that a presenter names; the server says that they are not there.
REFUSED_BY_THE_SERVER = ("another project's task", "history spam", "giving back what is another project's")
# Attacks that ask without the bridge.
DIRECT = ("profile", "admin", "raw", "images", "form", "own pages", "frame goes to", "base tag")
# Attacks that replace the document, its address or its bridge: an attack after one of these would attack nothing.
ALONE = (
    "form ", "frame goes", "meta refresh", "data:", "blob:", "javascript:", "base tag", "history", "false address",
    "wrong shapes", "going where", "operations",
)  # fmt: skip
# The same ways out as others that are tried each time: to another document, by a script's address, past the base address.
PROOFS = (
    "form get to other site", "meta refresh", "data: URL", "blob: URL", "javascript: over the bridge", "base tag and the API",
    "history spam", "operations that there are not", "wrong shapes", "going where the page must not", "false address",
    "frame goes elsewhere", "history.back", "javascript: in _top", "form post",
)  # fmt: skip
AT_ONCE = 16  # attacks of one presenter, one after the other


def presenters_of(names: Iterable[str], proofs: Sequence[str] = PROOFS) -> list[Any]:
    """Lists of names: each list is one presenter's attacks. Those that begin with one of ``proofs`` are left to make proofs."""
    alone, allowed, others = [], [], []
    for name in names:
        kind = alone if name.startswith(ALONE) else allowed if name in REFUSED_BY_THE_SERVER else others
        kind.append(name)
    together = [others[first : first + AT_ONCE] for first in range(0, len(others), AT_ONCE)]
    groups = [*together, *([allowed] if allowed else []), *([name] for name in alone)]
    return [
        pytest.param(
            group,
            id=group[0] if len(group) == 1 else f"from {group[0]}",
            marks=[pytest.mark.proof] if group[0] in proofs else [],
        )
        for group in groups
    ]


# It starts by itself and nothing is looked at meanwhile: what Playwright evaluates counts as a click of the volunteer.
SCENE = """<p>h</p><script>addEventListener("load", async () => {
  window.got = {};
  for (const [name, attack] of [ATTACKS])
    try { got[name] = await attack() } catch (error) { got[name] = error.name }
  console.log("attack over");
})</script>"""


def attack(stage: Any, scripts: dict[str, str], quiet: float = 1) -> None:
    """Shows the attacks and waits until they and their consequences are over: until nothing happens for so long."""
    written = [
        f"[{json.dumps(name)}, async () => {{ let result; {text}\n return result }}]" for name, text in scripts.items()
    ]
    stage.mine.show(task_presenter=stage.fill(SCENE.replace("ATTACKS", ",\n".join(written))))
    stage.go("/project/MINE/newtask")
    if len(scripts) > 1:
        stage.until(lambda: "attack over" in stage.console)
    stage.settle(quiet)


def loot(stage: Any) -> str:
    """Everything that the frames of our server hold after an attack."""
    frames = [frame for frame in stage.page.frames[1:] if frame.url.startswith(stage.witness.url)]
    held = "[JSON.stringify(window.got), document.documentElement.textContent]"
    return str([frame.evaluate(held) for frame in frames])


def unexpected(stage: Any, names: Sequence[str]) -> dict[str, Any]:
    """What the attacks got that say what they must get, and did not."""
    required = {name: ATTACKS[name][1] for name in names if ATTACKS[name][1] is not None}
    if not required:
        return {}
    frame = stage.frame()
    stage.until(lambda: frame.evaluate(f"{json.dumps(names[-1])} in (window.got || {{}})"))
    got = frame.evaluate("window.got")
    wanted = {name: expected if isinstance(expected, list) else [expected] for name, expected in required.items()}
    return {name: got.get(name) for name, expected in wanted.items() if got.get(name) not in expected}


@pytest.fixture(scope="module")
def arena(make_stage: Any) -> Any:
    """One project and one browser profile for all of them, with its owner signed in."""
    stage = make_stage()
    stage.sign_in(stage.mine.owner)
    return stage


@pytest.fixture(scope="module")
def crossing(make_stage: Any) -> Any:
    """The same with SameSite=None: the owner's cookie does go out; the server's refusals must do alone."""
    stage = make_stage()
    stage.sign_in(stage.mine.owner, sameSite="None", secure=True)
    return stage


@shows("presenter-no-secret")
@pytest.mark.parametrize("names", presenters_of(ATTACKS))
def test_hostile(arena: Any, names: list[str]) -> None:
    stage = arena
    stage.begin()
    downloads: list[Any] = []
    dialogs: list[str] = []
    stage.page.on("download", lambda download: downloads.append(download))
    stage.page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    # What an attack got says when it is over.
    attack(stage, {name: ATTACKS[name][0] for name in names}, 1 if ATTACKS[names[-1]][1] is None else 0.5)
    assert unexpected(stage, names) == {}
    assert not downloads
    assert not dialogs
    assert not [seen for seen in stage.elsewhere.seen if "steal" in seen]
    secrets = [stage.mine.owner.key, stage.mine.record["secret_key"]]
    assert not any(secret in loot(stage) for secret in secrets)
    stage.unharmed()
    foreign = re.compile(rf"/api/task/{stage.other.tasks[0]}\b")
    allowed = names[0] in REFUSED_BY_THE_SERVER
    crossed = [asked for asked in stage.asked() if foreign.search(asked.path) and asked.header("x-presenter")]
    assert allowed or not crossed


@examples("from profile over the bridge")
@pytest.mark.parametrize(
    "names", presenters_of((name for name in ATTACKS if name.startswith(DIRECT)), proofs=(*PROOFS, "base tag"))
)
def test_hostile_where_cookies_cross_sites(crossing: Any, names: list[str]) -> None:
    stage = crossing
    stage.begin()
    attack(stage, {name: ATTACKS[name][0] for name in names})
    assert [asked for asked in stage.asked() if asked.header("cookie")]
    assert not [asked for asked in stage.asked() if asked.path == "/account/update"]
    assert stage.runs() == stage.other.runs() == []
    assert stage.usable()
    assert stage.still_signed_in()
    assert stage.mine.owner.key not in loot(stage)


def test_each_attack_is_made_by_one_presenter() -> None:
    groups = [each.values[0] for each in presenters_of(ATTACKS)]
    assert sorted(name for names in groups for name in names) == sorted(ATTACKS)
    assert {names[0] for names in groups if len(names) == 1} >= {*PROOFS}


def test_there_are_fifty_hostile_presenters_and_more() -> None:
    assert len({script for script, _ in ATTACKS.values()}) >= 50


def test_hostile_with_a_click(stage: Any) -> None:
    """A click gives user activation: pop-ups, top navigation and full screen are still the page's to decide."""
    stage.sign_in(stage.mine.owner)
    frame = stage.show("""<button onclick="for (let i = 0; i < 20; i++) window.open('OUTSIDE/ad?' + i);
      window.open('/account/signout'); window.open('/admin'); try { top.location = 'OUTSIDE/steal' } catch (e) {}
      const a = document.createElement('a'); a.href = '/account/signout'; a.target = '_blank';
      document.body.append(a); a.click()">x</button>""")
    frame.click("button")
    stage.settle()
    assert len(stage.context.pages) == 2  # one tab for one click, as on any page
    assert "ad?0" in stage.context.pages[1].url
    stage.context.pages[1].close()
    stage.unharmed()


FLOODS = {
    "words": "for (let i = 0; i < 100000; i++) parent.postMessage('x', '*')",
    "requests": "for (let i = 0; i < 5000; i++) presenterBridge.api('GET', '/api/project/MINE_ID/newtask')",
    "a big text": "presenterBridge.api('POST', '/api/taskrun', 'x'.repeat(30e6))",
    "deep JSON": "presenterBridge.api('POST', '/api/taskrun', '['.repeat(3e6))",
    "cycles": "const a = {}; a.a = a; for (let i = 0; i < 1000; i++) parent.postMessage(a, '*')",
    "buffers": "for (let i = 0; i < 4; i++) parent.postMessage(new ArrayBuffer(5e7), '*')",
    "prototypes": """presenterBridge.api('POST', '/api/taskrun', '{"__proto__": {"polluted": 1}, "project_id": MINE_ID,'
           + '"task_id": MINE_TASK0, "constructor": {"prototype": {"polluted": 1}}}')""",
    "offers": """const keys = Object.fromEntries(Array.from({length: 1000}, (_, n) => ['k' + n, 'x'.repeat(1000)]));
           for (let i = 0; i < 60; i++) presenterBridge.offer(keys)""",
}
# Those of which the test looks at something of their own: the requests that pass, and the offers that are shown.
EACH_TIME = ("requests", "offers")


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(text, id=name, marks=[] if name in EACH_TIME else [pytest.mark.proof])
        for name, text in FLOODS.items()
    ],
)
def test_floods_and_monsters(arena: Any, script: str) -> None:
    stage = arena
    stage.begin()
    attack(stage, {"flood": script})
    assert stage.usable()
    assert stage.page.evaluate("({}).polluted") is None
    assert stage.page.locator("#offers tr").count() <= 21
    assert len([asked for asked in stage.asked() if "newtask?" in asked.path]) < 250
    stage.unharmed()


def test_offered_keys_are_text(stage: Any) -> None:
    frame = stage.show(
        "<script>presenterBridge.offer({'<b>1</b>': '<img src=x onerror=alert(1)>', s: 'Skip'})</script>"
    )
    frame.wait_for_load_state()
    stage.until(lambda: stage.page.locator("#offers tr").count() > 1)
    assert stage.page.locator("#offers img, #offers b").count() == 0
    assert "<IMG" in stage.page.locator("#offers").text_content().upper()


@pytest.mark.proof
def test_reloading_for_ever_is_stopped(stage: Any) -> None:
    stage.mine.show(task_presenter="<script>location.reload()</script>")
    stage.go("/project/MINE/newtask")
    stage.settle(2)
    assert "reloading" in stage.page.inner_text("#presenter-notice")
    stage.mine.show(task_presenter=stage.fill(SIMPLE))
    stage.page.click("#presenter-notice button")
    stage.until(lambda: stage.frame().inner_text("#work").startswith("Task"))


def test_an_endless_loop_leaves_the_page_usable(stage: Any) -> None:
    hurry = "const slow = window.setInterval; window.setInterval = (act, ms, ...more) => slow(act, ms / 10, ...more)"
    stage.page.add_init_script(hurry)  # it is asked every three seconds, five times
    stage.show("<p>x</p><script>setTimeout(() => { while (true); }, 300)</script>")
    stage.until(lambda: stage.page.is_visible("#presenter-notice"), 30)
    assert stage.usable()  # Chromium gives a sandboxed frame its own process
    assert "does not respond" in stage.page.inner_text("#presenter-notice")
