"""The table of tasks in a browser: rows by keys, the selection and its bar, and the same without JavaScript."""

from __future__ import annotations

import importlib.resources
import itertools
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from support.servers.receiver import Receiver

pytestmark = pytest.mark.browser

AXE = importlib.resources.files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
_RUN = """async () => (await axe.run(document, {resultTypes: ['violations']})).violations
    .map(v => v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160)).join(' | '))"""


class Table:
    """A page with the list of tasks of a project, as its owner sees it."""

    def __init__(self, page: Any, url: str, project: Any) -> None:
        self.page, self.project = page, project
        self.at = f"{url}/project/{project.short_name}/tasks/"
        self.wrong: list[str] = []
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("console", lambda message: message.type == "error" and self.wrong.append(message.text))
        page.goto(f"{self.at}browse")

    def focused(self) -> str:
        return str(self.page.evaluate("document.activeElement.textContent.trim()"))

    def selected(self) -> list[str]:
        return [str(box.input_value()) for box in self.page.locator("td.box input:checked").all()]

    def said(self) -> str:
        return str(self.page.locator("[data-selection] [data-count]").inner_text())

    def sent(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.page.url).query)


@pytest.fixture
def table(request: Any, live_server: Any, browser: Any, new_project: Any) -> Iterator[Table]:
    project = new_project(tasks=5)
    options = getattr(request, "param", {})
    context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce", **options)
    context.set_default_timeout(60_000)  # a busy machine is no failure
    context.add_cookies(project.owner.cookies(live_server.url))
    shown = Table(context.new_page(), live_server.url, project)
    yield shown
    assert shown.wrong == []
    context.close()


def test_keys_move_select_and_open_rows(table: Table) -> None:
    page, tasks = table.page, [str(task) for task in table.project.tasks]
    table.page.locator("#table-keys-open").wait_for()
    for key, focused in (
        ("j", tasks[0]),
        ("j", tasks[1]),
        ("ArrowDown", tasks[2]),
        ("k", tasks[1]),
        ("ArrowUp", tasks[0]),
    ):
        page.keyboard.press(key)
        assert table.focused() == focused, key
    page.keyboard.press("k")
    assert table.focused() == tasks[0], "the first row is the first"
    page.keyboard.press("x")
    page.keyboard.press("j")
    page.keyboard.press("Space")
    assert table.selected() == tasks[:2] and table.said() == "2 selected"
    page.keyboard.press("x")
    assert table.selected() == tasks[:1] and table.focused() == tasks[1]
    page.keyboard.press("Escape")
    assert table.selected() == []
    page.locator("[name=words]").focus()
    page.keyboard.type("jxk?")
    assert page.locator("[name=words]").input_value() == "jxk?" and table.selected() == []
    page.locator("h1").click()
    page.keyboard.press("?")
    assert page.locator("#table-keys").is_visible()
    page.keyboard.press("j")
    assert page.locator("#table-keys").is_visible(), "the dialog has the keys"
    page.locator("#use-table-keys").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    assert table.focused() != tasks[0]
    page.locator("tbody th a").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/tasks/{tasks[1]}")


@pytest.mark.proof
def test_the_bar_says_what_is_selected_and_the_buttons_take_it(table: Table) -> None:
    page, tasks = table.page, [str(task) for task in table.project.tasks]
    bar, retire = page.locator("[data-selection]"), page.get_by_role("button", name="Retire", exact=True)
    assert retire.is_disabled() and table.said() == "0 selected"
    boxes = page.locator("td.box input")
    boxes.nth(1).check()
    boxes.nth(3).click(modifiers=["Shift"])
    assert table.selected() == tasks[1:4] and table.said() == "3 selected"
    assert bar.evaluate("bar => getComputedStyle(bar).position") == "sticky"
    page.get_by_label("Select all rows on this page").check()
    assert table.selected() == tasks and table.said() == "5 selected"
    boxes.nth(0).uncheck()
    assert page.get_by_label("Select all rows on this page").evaluate("box => box.indeterminate")
    retire.click()
    page.wait_for_url("**/tasks/retire?**")
    assert page.locator("[name=task_ids]").input_value() == ", ".join(tasks[1:])
    page.go_back()
    page.get_by_label("All 5 that match").check()
    page.get_by_role("button", name="Retire", exact=True).click()
    page.wait_for_url("**/tasks/retire?**")
    assert table.sent()["scope"] == ["matching"] and "All tasks of the project" in page.inner_text("main")
    page.get_by_role("button", name="See the effect first").click()
    page.get_by_text("5 tasks would be retired.").wait_for()
    page.get_by_role("button", name="Retire tasks").click()
    page.get_by_text("5 tasks were changed.").wait_for()


def answer(person: Any, project: Any) -> int:
    task = person.ask("GET", f"/api/{project.id}/newtask").json
    body = {"project_id": project.id, "task_id": task["id"], "info": {"answer": "yes"}}
    assert person.ask("POST", "/api/taskrun", body).status == 200
    return int(task["id"])


def test_rows_follow_the_project_and_keep_selection_and_focus(table: Table, new_person: Any) -> None:
    page, tasks = table.page, table.project.tasks
    page.locator("td.box input").nth(2).check()
    page.keyboard.press("j")
    page.evaluate("window.stays = true")
    asked: list[str] = []
    page.on("request", lambda request: "/browse" in request.url and asked.append(request.url))
    done = answer(new_person(), table.project)
    row = page.locator(f"tr[data-row='{done}'] [data-label='Answers']")
    row.filter(has_text="1 /").wait_for()
    assert table.selected() == [str(tasks[2])] and table.said() == "1 selected" and page.evaluate("window.stays")
    assert table.focused() == str(tasks[3]) and len(asked) == 1, "a change is one request"
    for _ in range(4):
        done = answer(new_person(), table.project)
    page.locator(f"tr[data-row='{done}'] [data-label='Answers']").filter(has_text="/").wait_for()
    page.wait_for_function(
        "n => [...document.querySelectorAll('[data-label=Answers]')].reduce((sum, cell) => sum + parseInt(cell.textContent), 0) === n",
        arg=5,
    )
    at = page.evaluate(
        "performance.getEntriesByType('resource').filter(one => one.name.includes('/browse')).map(one => one.startTime)"
    )
    assert min((b - a for a, b in itertools.pairwise(at)), default=5000) > 4990, "they are 5 seconds apart"


@pytest.mark.parametrize("table", [{"java_script_enabled": False}], indirect=True)
def test_everything_can_be_selected_without_javascript(table: Table) -> None:
    page, tasks = table.page, [str(task) for task in table.project.tasks]
    for choice, ids in (("All on this page", tasks), ("Selected rows", tasks[:1])):
        page.goto(f"{table.at}browse")
        page.locator("td.box input").first.check()
        page.get_by_label(choice).check()
        page.get_by_role("button", name="Priority", exact=True).click()
        assert page.locator("[name=task_ids]").input_value() == ", ".join(ids), choice
    assert page.locator("#table-keys-open").count() == 0


@pytest.mark.proof
@pytest.mark.parametrize(
    "table", [{"bypass_csp": True, "color_scheme": scheme} for scheme in ("light", "dark")], indirect=True
)
def test_axe_finds_nothing_in_a_table_with_a_selection(table: Table) -> None:
    page = table.page
    page.locator("td.box input").first.check()
    page.add_script_tag(content=AXE)
    assert page.evaluate(_RUN) == []
    page.locator("h1").click()
    page.keyboard.press("?")
    assert page.evaluate(_RUN) == []


@pytest.mark.proof
def test_answers_to_a_task_are_selected_by_keys_and_deleted(table: Table) -> None:
    page, owner = table.page, table.project.owner
    task = owner.api("GET", f"{table.project.id}/newtask")["id"]
    owner.api("POST", "taskrun", {"project_id": table.project.id, "task_id": task, "info": {"kinds": ["fox", "owl"]}})
    page.goto(f"{table.at}{task}")
    page.locator("#table-keys-open").wait_for()
    assert page.locator("tbody tr").first.get_by_text("fox, owl").is_visible()
    page.keyboard.press("j")
    page.keyboard.press("x")
    assert table.said() == "1 selected"
    page.evaluate(AXE)
    assert page.evaluate(_RUN) == []
    page.get_by_role("button", name="Delete answers").click()
    page.get_by_text("1 answer would be deleted permanently.").wait_for()
    page.evaluate(AXE)
    assert page.evaluate(_RUN) == []
    page.get_by_role("button", name="Delete answers").click()
    page.get_by_text("1 answer was deleted.").wait_for()
    assert owner.api("GET", "taskrun", project_id=table.project.id) == []


@pytest.mark.proof
def test_deliveries_follow_what_is_on_its_way_without_a_reload(table: Table) -> None:
    page, project = table.page, table.project
    receiver = Receiver()
    receiver.behave = lambda request: 204 if receiver.gate.wait(60) else 500
    try:
        project.owner.api("PUT", f"project/{project.id}", {"webhook": receiver.url})
        project.owner.ask("POST", f"/project/{project.short_name}/webhook/test", {}, X_CSRFToken=project.owner.csrf())
        page.goto(table.at.replace("/tasks/", "/webhook"))
        page.locator("tr[data-moving] [data-label=State]").filter(has_text="Waiting").wait_for()
        page.evaluate("window.stays = true")
        page.locator("td.box input").first.check()
        page.locator("tbody th a").first.focus()
        receiver.gate.set()
        page.locator("tr[data-state=delivered] [data-label=State]").filter(has_text="Delivered").wait_for()
        assert page.evaluate("window.stays") and table.said() == "1 selected" and table.focused().startswith("Test")
        assert page.locator("tr[data-moving]").count() == 0
    finally:
        receiver.close()
