"""Presenters in the frame: what they expect of a page works, with crowdd's `pybossa` and with their own library."""

from __future__ import annotations

from typing import Any

import pytest
from presenters import JQUERY, OLD_STYLE, OWN_LIBRARY, SIMPLE
from support.checks.proofs import examples
from support.checks.shows import shows

pytestmark = pytest.mark.browser


def answer_all(stage: Any, frame: Any, button: str) -> None:
    for number, task in enumerate(stage.mine.tasks):
        stage.until(lambda task=task: frame.inner_text("#work") == f"Task {task}")
        stage.until(lambda number=number: frame.inner_text("#progress") == f"{number} of 3")
        stage.until(lambda task=task: stage.path() == f"/project/{stage.mine.short_name}/task/{task}")
        frame.click(f"text={button}")
    stage.until(lambda: frame.inner_text("#work") == "All done")


# The frame's own pybossa


@shows("presenter-global")
def test_three_tasks_with_the_frames_pybossa(stage: Any) -> None:
    answer_all(stage, stage.show(SIMPLE), "Yes")
    assert [(run["task_id"], run["info"]) for run in stage.runs()] == [(task, "yes") for task in stage.mine.tasks]
    assert {run["user_id"] for run in stage.runs()} == {None}
    assert len({run["user_ip"] for run in stage.runs()}) == 1
    offsets = [asked.path.split("?")[1] for asked in stage.asked() if "newtask?offset" in asked.path]
    assert offsets[:2] == ["offset=0", "offset=1"]
    stage.unharmed()


def test_calls_and_deferreds(stage: Any) -> None:
    frame = stage.show("<p>calls</p>")
    got = frame.evaluate(
        stage.fill("""async () => {
      const wait = (d) => new Promise((ok) => d.done(ok)
        .fail((xhr) => ok({failed: xhr.status, json: xhr.responseJSON})));
      const out = {};
      out.newTask = await wait(pybossa.newTask('MINE'));
      await presenterBridge.api('GET', '/api/project/MINE/newtask?limit=2');
      out.save = await wait(pybossa.saveTask(MINE_TASK0, {a: 1}));
      out.again = await wait(pybossa.saveTask(MINE_TASK0, 'x'));
      const run = pybossa.saveTask({id: MINE_TASK1, project_id: MINE_ID}, 'y');
      out.object = await wait(run.then(function (run) { return run.info; }));
      out.progress = await wait(pybossa.userProgress('MINE'));
      out.endpoint = pybossa.setEndpoint('http://x');
      out.id = [pybossa.getCurrentTaskId('/project/faces/task/7'), pybossa.getCurrentTaskId()];
      out.awaited = (await pybossa.userProgress('MINE')).total;
      return out }""")
    )
    assert got["newTask"]["question"] == stage.mine.record["description"]
    assert got["newTask"]["task"]["id"] == stage.mine.tasks[0]
    assert got["save"]["info"] == {"a": 1}
    assert got["again"]["failed"] == 403
    assert got["again"]["json"]["exception_msg"]
    assert got["object"] == "y"
    assert (got["progress"]["done"], got["progress"]["total"], got["awaited"]) == (2, 3, 3)
    assert (got["endpoint"], got["id"]) == ("http://x/", ["7", False])


def test_a_task_page_opens_its_task(stage: Any) -> None:
    frame = stage.show(SIMPLE, "/project/MINE/task/MINE_TASK2")
    stage.until(lambda: frame.inner_text("#work") == f"Task {stage.mine.tasks[2]}")
    frame.click("text=No")
    stage.until(stage.runs)
    assert stage.runs()[0]["task_id"] == stage.mine.tasks[2]
    stage.until(lambda: frame.inner_text("#work") in [f"Task {task}" for task in stage.mine.tasks[:2]])


def test_a_signed_in_volunteer_answers_as_himself(stage: Any, new_person: Any) -> None:
    person = new_person()
    stage.sign_in(person)
    frame = stage.show(SIMPLE)
    stage.until(lambda: frame.inner_text("#work").startswith("Task"))
    frame.click("text=Yes")
    stage.until(stage.runs)
    assert stage.runs()[0]["user_id"] == person.profile()["user"]["id"]
    stage.unharmed()


# Presenters with libraries of their own


@pytest.mark.proof
@shows("presenter-global")
def test_own_jquery_and_own_library(stage: Any) -> None:
    answer_all(stage, stage.show(OWN_LIBRARY), "No")
    assert len(stage.runs()) == 3
    assert {run["user_id"] for run in stage.runs()} == {None}
    stage.unharmed()


@pytest.mark.proof
def test_own_library_on_a_task_page(stage: Any) -> None:
    frame = stage.show(OWN_LIBRARY, "/project/MINE/task/MINE_TASK1")
    stage.until(lambda: frame.inner_text("#work") == f"Task {stage.mine.tasks[1]}")


@examples("False")
@pytest.mark.parametrize("own_jquery", [False, True])
def test_an_old_style_presenter(stage: Any, own_jquery: bool) -> None:
    frame = stage.show(
        (f"<script>{JQUERY}</script><script>$.fn.tooltip = $.noop</script>" if own_jquery else "") + OLD_STYLE
    )
    for number, task in enumerate(stage.mine.tasks):
        stage.until(lambda task=task: frame.inner_text("#task-id") == str(task))
        stage.until(lambda number=number: frame.inner_text("#done") == str(number))
        frame.click("button[value=Yes]")
    stage.until(lambda: frame.is_visible("#finish"))
    assert len(stage.runs()) == 3
    frame.click("text=Go back")  # href="/": the page follows
    stage.until(lambda: stage.path() == "/")


def test_fetch_beacon_and_xhr(stage: Any) -> None:
    frame = stage.show("<p>x</p>")
    got = frame.evaluate(
        stage.fill("""async () => {
      await fetch('/api/project/MINE_ID/newtask?limit=3');
      const a = await (await fetch('/api/project/MINE_ID/newtask?offset=1')).json();
      const body = JSON.stringify({project_id: MINE_ID, task_id: MINE_TASK1, info: 1});
      const b = await (await fetch(new Request('/api/taskrun', {method: 'POST', body}))).json();
      const more = JSON.stringify({project_id: MINE_ID, task_id: MINE_TASK2, info: 2});
      navigator.sendBeacon('/api/taskrun', new Blob([more], {type: 'application/json'}));
      const c = await new Promise((ok) => { const x = new XMLHttpRequest();
        x.open('GET', location.protocol + '//' + location.host + '//api/task/MINE_TASK0');
        x.responseType = 'json'; x.onload = () => ok(x.response); x.send(); });
      let sync = 'sent';
      const x = new XMLHttpRequest();
      try { x.open('GET', '/api/task/MINE_TASK0', false); x.send(); } catch (e) { sync = e.name; }
      return {a: a.id, b: b.task_id, c: c.id, sync, outside: (await fetch('OUTSIDE/x')).status} }""")
    )
    first, second, _ = stage.mine.tasks
    assert got == {"a": second, "b": second, "c": first, "sync": "NetworkError", "outside": 200}
    stage.until(lambda: len(stage.runs()) == 2)


def test_lists_hold_the_rows_of_this_project_only(stage: Any) -> None:
    frame = stage.show("<p>x</p>")
    got = frame.evaluate(
        stage.fill("""async () => {
      const list = async (path) => {
        const answer = await fetch(path);
        return answer.ok ? await answer.json() : answer.status; };
      return {
        tasks: (await list('/api/task?limit=100')).map(t => [t.id, t.project_id]),
        all: (await list('/api/task?all=1&limit=100&_=5')).map(t => t.project_id),
        one: (await list('/api/task?id=MINE_TASK1')).map(t => t.id),
        pages: (await list('/api/task?limit=1&offset=1&orderby=id')).map(t => t.id),
        runs: (await list('/api/taskrun')).every(r => r.project_id === MINE_ID),
        results: (await list('/api/result')).every(r => r.project_id === MINE_ID),
        foreign: await list('/api/task?project_id=OTHER_ID'),
        unknown: await list('/api/task?colour=red'),
        foreignTask: await list('/api/task/OTHER_TASK0') } }""")
    )
    tasks = stage.mine.tasks
    assert got["tasks"] == [[task, stage.mine.id] for task in tasks]
    assert got["all"] == [stage.mine.id] * 3
    assert (got["one"], got["pages"]) == ([tasks[1]], [tasks[1]])
    assert (got["runs"], got["results"]) == (True, True)
    assert (got["foreign"], got["unknown"]) == (403, 403)
    assert got["foreignTask"] in (403, 404)
    lists = [
        asked.path for asked in stage.asked() if asked.path.startswith(("/api/task?", "/api/taskrun?", "/api/result?"))
    ]
    assert lists
    assert all(f"project_id={stage.mine.id}" in path and "all=1" in path for path in lists)


# What presenters expect of a page


@pytest.mark.proof
@shows("presenter-global")
def test_locale_jquery_and_bootstrap(stage: Any) -> None:
    frame = stage.show(
        "<script>window.first = [document.getElementById('PYBOSSA_USER_LOCALE').textContent.trim(), typeof $.fn.modal,"
        " typeof $.fn.tooltip, typeof $.fn.load, $.fn.jquery, typeof pybossa.run]</script>"
    )
    assert frame.evaluate("first") == ["en", "function", "function", "function", "2.2.4", "function"]


def test_cookie_and_storage(stage: Any) -> None:
    frame = stage.show("<p>x</p>")
    got = frame.evaluate("""() => {
      document.cookie = 'seen=1; path=/; expires=Fri, 1 Jan 2100 00:00:00 GMT'; document.cookie = 'b=2';
      document.cookie = 'b=; Max-Age=0'; localStorage.setItem('a', 1); localStorage.b = 'two'; delete localStorage.a;
      sessionStorage.c = 3;
      const local = [localStorage.getItem('a'), localStorage.b, localStorage.length];
      return [document.cookie, ...local, sessionStorage.getItem('c')] }""")
    assert got == ["seen=1", None, "two", 1, "3"]
    script = "localStorage.getItem('NAME') && sessionStorage.getItem('NAME')".replace(
        "NAME", f"presenter-{stage.mine.id}-"
    )
    stage.until(lambda: stage.page.evaluate(script))
    stage.page.reload()
    seen = "[localStorage.b, sessionStorage.c, localStorage.nothing === undefined, window.name]"
    assert stage.frame().evaluate(seen) == ["two", "3", True, ""]
    stage.go("/project/OTHER/newtask")  # another project has another memory
    assert stage.frame().evaluate("[localStorage.length, localStorage.getItem('b')]") == [0, None]


def test_form_handlers_fire_and_nothing_leaves(stage: Any) -> None:
    frame = stage.show("""
      <form action="/account/update" method="post" onsubmit="fired = 1"><input name="a" required value="1">
        <button id="send">x</button></form>
      <form action="OUTSIDE/steal" onsubmit="return (fired = 2), true"><button id="out">x</button></form>""")
    frame.click("#send")
    assert frame.evaluate("fired") == 1
    frame.click("#out")
    assert frame.evaluate("fired") == 2
    frame.evaluate("document.forms[0].submit()")
    frame.evaluate(
        "fetch('/api/project/MINE/userprogress')".replace("MINE", stage.mine.short_name)
    )  # later than what would leave
    assert not [asked for asked in stage.asked() if asked.method == "POST"]
    assert not stage.elsewhere.seen
    stage.unharmed()


def test_alert_confirm_and_prompt_are_shown_inside_the_frame(stage: Any) -> None:
    frame = stage.show("""
      <button id="b" onclick="if (confirm('Sure?')) window.saved = (window.saved || 0) + 1">save</button>
      <button id="p" onclick="var n = prompt('Name?', 'x'); if (n !== null) window.named = n">name</button>
      <script>alert('<b>hello</b>'); alert('again')</script>""")
    dialog = frame.locator("dialog")
    dialog.wait_for()
    assert dialog.locator("p").inner_text() == "<b>hello</b>"
    assert stage.page.locator("dialog").count() == 0  # our page says nothing for a presenter
    assert dialog.locator("button >> visible=true").all_inner_texts() == ["OK"]
    dialog.locator("text=OK").click()
    stage.until(lambda: dialog.locator("p").inner_text() == "again")
    dialog.locator("text=OK").click()
    frame.click("#b")
    dialog.locator("text=Cancel").click()
    frame.click("#b")
    dialog.locator("text=OK").click()
    stage.until(lambda: frame.evaluate("window.saved") == 1)
    frame.click("#p")
    assert dialog.locator("input").input_value() == "x"
    dialog.locator("input").fill("")
    dialog.locator("input").press_sequentially("Ann?")  # ? is no shortcut here
    stage.page.keyboard.press("Enter")
    stage.until(lambda: frame.evaluate("window.named") == "Ann?")
    assert stage.page.is_hidden("#keys")
    frame.click("#p")
    stage.page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    assert frame.evaluate("window.named") == "Ann?"


def test_height_follows_and_does_not_run_away(stage: Any) -> None:
    frame = stage.show("<div id='d' style='height:1500px'>x</div>")

    def height() -> int:
        return int(stage.page.eval_on_selector("#presenter iframe", "frame => frame.offsetHeight"))

    stage.until(lambda: 1500 <= height() < 1600)
    frame.evaluate("d.style.height = '900px'")
    stage.until(lambda: 900 <= height() < 1000)
    frame.evaluate("d.style.height = 'calc(100vh + 50px)'")
    seen: list[int] = []

    def at_rest() -> bool:
        seen.append(height())
        return len(seen) > 40 and len(set(seen[-40:])) == 1

    stage.until(at_rest, 20)
    assert seen[-1] < 4000


@pytest.mark.proof
def test_a_modal_opens_where_people_look(stage: Any) -> None:
    frame = stage.show(
        "<div style='height:3000px'>x</div><div class='modal' id='m' style='display:none'><p id='mp'>Hello</p></div>"
    )
    stage.until(lambda: stage.page.evaluate("document.documentElement.scrollHeight") > 2900)
    stage.page.evaluate("scrollTo(0, 1500)")
    stage.until(
        lambda: frame.evaluate("parseFloat(document.documentElement.style.getPropertyValue('--view-top'))") > 1000
    )
    frame.evaluate("$('#m').modal('show')")
    stage.until(lambda: 0 <= (frame.locator("#mp").bounding_box() or {"y": -1})["y"] < 720)


def test_keyboard_and_focus(stage: Any) -> None:
    frame = stage.show(
        "<input id='i'><button id='b'>b</button>"
        "<script>addEventListener('keydown', e => e.key === 'u' && e.preventDefault())</script>"
    )
    stage.page.evaluate(
        "window.keys = [];"
        "document.addEventListener('presenter:key', ({ detail }) => keys.push(detail.key));"
        "document.addEventListener('keydown', e => e.isTrusted || keys.push('made up: ' + e.key))"
    )
    frame.focus("#b")
    for key in ("+", "u", "Control+Enter", "s"):
        stage.page.keyboard.press(key)
    frame.focus("#i")
    stage.page.keyboard.press("x")  # typing stays in the frame
    stage.until(lambda: stage.page.evaluate("keys").count("s"))
    assert [key for key in stage.page.evaluate("keys") if key not in ("Control", "Shift")] == ["+", "s"]
    stage.page.keyboard.press("Escape")  # no keyboard trap
    stage.until(lambda: stage.page.evaluate("document.activeElement.id") == "leave")
    where = "document.activeElement.id || document.activeElement.tagName"
    while (before := stage.page.evaluate(where)) != "IFRAME":
        assert before in ("leave", "help-open", "keys-open", "full-screen")
        stage.page.keyboard.press("Tab")
        stage.until(lambda before=before: stage.page.evaluate(where) != before)
    assert frame.evaluate("document.activeElement.id") == "i"
    assert stage.page.get_attribute("#presenter iframe", "title")


@pytest.mark.proof
def test_on_a_phone(stage: Any) -> None:
    stage.page.set_viewport_size({"width": 360, "height": 640})
    frame = stage.show("<img src='/static/img/mark.svg' style='width:2000px'><p>x</p>")
    assert stage.page.evaluate("document.documentElement.scrollWidth") == 360 == frame.evaluate("innerWidth")
    assert frame.evaluate("document.documentElement.scrollWidth") == 360


@pytest.mark.proof
def test_back_button_and_reload(stage: Any) -> None:
    first, second, third = stage.mine.tasks
    name = stage.mine.short_name
    frame = stage.show(SIMPLE)
    stage.until(lambda: stage.path() == f"/project/{name}/task/{first}")
    opened = stage.page.evaluate("performance.now()")
    stage.page.wait_for_function(
        "opened => performance.now() > opened + 1000", arg=opened
    )  # quicker steps replace the address
    frame.click("text=Yes")
    stage.until(lambda: stage.path() == f"/project/{name}/task/{second}")
    frame.evaluate("addEventListener('popstate', () => window.popped = pybossa.getCurrentTaskId())")
    stage.page.go_back()
    stage.until(lambda: frame.evaluate("window.popped") == str(first))
    frame = stage.show(SIMPLE)
    stage.until(lambda: frame.inner_text("#work") == f"Task {second}")
    frame.evaluate("setTimeout(() => location.reload())")  # old presenters do this after saving
    stage.until(lambda: stage.frame() != frame)
    frame = stage.frame()
    stage.until(lambda: frame.inner_text("#work") == f"Task {second}")
    frame.click("text=Yes")
    stage.until(lambda: len(stage.runs()) == 2)
    assert len({run["user_ip"] for run in stage.runs()}) == 1
    assert third not in [run["task_id"] for run in stage.runs()]
    stage.unharmed()


def test_links(stage: Any) -> None:
    frame = stage.show("""<a id="o" href="OUTSIDE/photo">photo</a>
      <a id="t" href="/project/MINE/stats" target="_top">figures</a>
      <a id="n" href="/project/MINE/newtask">next</a>
      <button onclick="location.href = '/project/MINE/newtask?x=1'">go</button>""")
    name = stage.mine.short_name
    with stage.context.expect_page() as opened:
        frame.click("#o")
    assert opened.value.evaluate("window.opener") is None
    assert opened.value.evaluate("document.referrer") == ""
    opened.value.close()
    frame.click("button")
    stage.until(lambda: stage.path() == f"/project/{name}/newtask?x=1")
    stage.frame().click("#n")
    stage.until(lambda: stage.path() == f"/project/{name}/newtask")
    stage.frame().click("#t")
    stage.until(lambda: stage.path() == f"/project/{name}/stats")


@examples("markup")
@pytest.mark.parametrize("how", ["property", "attribute", "markup"])
def test_images_do_not_taint_a_canvas(stage: Any, how: str) -> None:
    frame = stage.show("<img id='markup' src='/static/img/mark.svg?1' width='40' height='40'>")
    read = """async (how) => { const image = how === 'markup' ? document.getElementById('markup') : new Image(40, 40);
      if (how === 'attribute') image.setAttribute('src', '/static/img/mark.svg?2');
      if (how === 'property') image.src = '/static/img/mark.svg?3';
      await image.decode();
      const canvas = document.createElement('canvas');
      canvas.getContext('2d').drawImage(image, 0, 0, 40, 40);
      try { return canvas.toDataURL().slice(0, 15) } catch (e) { return e.name } }"""
    assert frame.evaluate(read, how) == "data:image/png;"


def test_an_embedded_player_is_stripped_of_its_origin(stage: Any) -> None:
    frame = stage.show(
        "<script>addEventListener('message', e => window.player = e.data)</script>"
        "<iframe src='OUTSIDE/player'></iframe>"
    )
    player = stage.until(lambda: frame.evaluate("window.player"))
    assert player == {"origin": "null", "storage": "SecurityError", "cookie": "SecurityError"}


@pytest.mark.proof
def test_the_theme_of_the_page_reaches_the_frame(stage: Any) -> None:
    stage.page.emulate_media(color_scheme="dark")
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    frame = stage.show("<div class='see'></div><form class='say'><h1>?</h1></form>")
    assert frame.evaluate(ground) == "rgb(10, 32, 51)"
    stage.page.emulate_media(color_scheme="light")
    assert frame.evaluate(ground) == "rgb(248, 247, 244)"
    plain = stage.show("<p>Bootstrap's look, which has no dark one</p>")
    stage.page.emulate_media(color_scheme="dark")
    assert plain.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


# The server by itself


def test_the_server_refuses_by_itself(stage: Any, new_person: Any) -> None:
    stage.show("<p>x</p>")
    mine, other = stage.mine, stage.other
    person = new_person()
    page = f"/project/{mine.short_name}/newtask"
    run = {"project_id": mine.id, "task_id": mine.tasks[0], "info": 1}
    assert person.ask("POST", "/api/taskrun", run, Origin="null").status == 403
    answer = person.ask("GET", f"/api/project/{mine.id}/newtask", Origin="null")
    assert answer.status == 403
    assert "Access-Control-Allow-Origin" not in answer.headers
    assert person.ask("POST", "/api/taskrun", run, **{"X-Presenter": str(other.id)}).status in (403, 404)
    assert person.ask("GET", f"/api/task/{mine.tasks[0]}", **{"X-Presenter": str(other.id)}).status in (403, 404)
    assert person.ask("GET", "/account/profile", **{"X-Presenter": str(mine.id)}).status == 403
    lost = person.ask("GET", "/account/signout", Sec_Fetch_Site="cross-site", Sec_Fetch_Dest="image")
    assert lost.status == 403
    assert person.profile()["user"]["name"] == person.name
    assert person.key not in person.ask("GET", "/account/profile?_presenter=1", Sec_Fetch_Dest="iframe").text
    frame = person.ask("GET", page + "?_presenter=1", Sec_Fetch_Dest="iframe", Content_Type="text/html")
    assert "sandbox allow-scripts allow-forms" in frame.headers["Content-Security-Policy"]
    assert "Set-Cookie" not in frame.headers
    assert person.name not in frame.text
    whole = person.ask(
        "GET", page + "?_presenter=1", Sec_Fetch_Dest="document", Accept="text/html", Content_Type="text/html"
    )
    assert "sandbox" not in whole.headers["Content-Security-Policy"]  # never the presenter as a page of ours
    assert "prelude.js" not in whole.text
    assert (
        person.ask("GET", "/static/presenter/prelude.js", Origin="null").headers["Access-Control-Allow-Origin"] == "*"
    )


@pytest.mark.proof
@shows("presenter-bridge")
def test_an_owner_is_a_volunteer_in_his_own_frame(stage: Any) -> None:
    stage.sign_in(stage.mine.owner)
    frame = stage.show("<p>x</p>")
    assert "secret_key" not in frame.evaluate(
        stage.fill("presenterBridge.api('GET', '/api/project/MINE_ID').then(r => r.body)")
    )
    marked = {"X-Presenter": str(stage.mine.id)}
    seen = stage.mine.owner.ask("GET", f"/api/project/{stage.mine.id}", **marked)
    assert seen.status in (200, 403)
    assert not (seen.json or {}).get("secret_key")
    assert stage.mine.owner.ask("DELETE", f"/api/task/{stage.mine.tasks[0]}", **marked).status in (401, 403)
    assert stage.mine.owner.ask("PUT", f"/api/project/{stage.mine.id}", {"name": "x"}, **marked).status in (401, 403)
