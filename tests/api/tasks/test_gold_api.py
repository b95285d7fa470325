"""Gold tasks over the API: owners make and end them, volunteers cannot tell them from other tasks."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from itertools import count
from statistics import fmean
from typing import Any

import pytest
import pytest_twisted
from support.checks.shows import shows

from crowdd.kinds.gold_shares import GOLD_SHARES


async def gold_project(served: Any, tasks: int = 6, gold: int = 2, **info: object) -> tuple[Any, Any]:
    """An owner and a published project in random order, its first tasks gold; "yes" is right."""
    owner = await served.person("owner")
    project = await served.project(owner, tasks=tasks, published=True)
    options = {
        "sched": "random",
        "answers": [{"name": "seen", "at": "/answer", "type": "label", "choices": ["yes", "no"]}],
    }
    before = (await owner.get(f"/api/project/{project['id']}")).json()["info"]
    changed = await owner.put(f"/api/project/{project['id']}", json={"info": before | options | info})
    assert changed.status == 200, changed.text
    for task in project["tasks"][:gold]:
        made = await owner.post(f"/api/project/{project['id']}/gold", json={"task_id": task, "answer": "yes"})
        assert made.status == 200, made.text
    return owner, project


async def answer(who: Any, project: Any, task: int, value: object = "yes") -> Any:
    leased = await who.post(f"/api/task/{task}/lease", json={})
    assert leased.status == 200, leased.text
    return await who.post(
        "/api/taskrun", json={"project_id": project["id"], "task_id": task, "info": {"answer": value}}
    )


@shows("gold-make", "gold-list", "gold-end")
@pytest_twisted.ensureDeferred
async def test_owners_make_change_list_and_end_gold_tasks(served):
    owner, project = await gold_project(served, gold=0)
    ada, bob = await served.person("ada"), await served.person("bob")
    path, (first, second, *_rest) = f"/api/project/{project['id']}/gold", project["tasks"]
    assert (await served.client().post(path, json={"task_id": first, "answer": "yes"})).status == 401
    for request in (ada.get(path), ada.post(path, json={"task_id": first, "answer": "yes"})):
        assert (await request).status == 403
    made = (await owner.post(path, json={"task_id": first, "answers": ["yes", "no"], "message": "Look."})).json()
    assert made["gold"]["answers"] == ["yes", "no"] and made["warnings"] == {"keys": [], "ordered": False}
    refused = await owner.post(path, json={"task_id": first, "answer": "yes"})
    assert (refused.status, refused.json()["error_code"]) == (403, "gold_exists")
    # Without an answer the consensus is right, where there is one.
    assert (await owner.post(path, json={"task_id": second})).status == 415
    for who in (ada, bob):
        assert (await answer(who, project, second, "no")).status == 200
    assert (await owner.post(path, json={"task_id": second})).json()["gold"]["answers"] == ["no"]
    assert (await answer(ada, project, first, "no")).status == 200
    assert (await owner.put(path, json={"task_id": first, "answer": "yes"})).json()["n_right"] == 0
    listed = (await owner.get(path)).json()
    assert [(one["task_id"], one["n_seen"], one["n_right"]) for one in listed] == [(first, 1, 0), (second, 0, 0)]
    task = (await owner.get(f"/api/task/{first}")).json()
    assert (task["state"], task["closed"]) == ("completed", "gold")
    run = (await owner.get(f"/api/taskrun?task_id={first}")).json()[0]
    assert run["calibration"] == 1
    assert (await owner.delete(f"{path}/{first}")).json() == {"task_id": first}
    assert (await owner.delete(f"{path}/{first}")).status == 404
    assert (await owner.get(f"/api/task/{first}")).json()["closed"] is None
    # Wrong bodies.
    for body in (
        {},
        {"task_id": "x"},
        {"task_id": 1, "answer": 1, "answers": [1]},
        {"task_id": 1, "rule": {"type": "x"}},
    ):
        assert (await owner.post(path, json=body)).status == 415, body


@shows("gold-hidden")
@pytest_twisted.ensureDeferred
async def test_volunteers_see_their_own_answers_only_while_there_is_gold(served):
    owner, project = await gold_project(served)
    ada, bob = await served.person("ada"), await served.person("bob")
    gold, ordinary = project["tasks"][0], project["tasks"][3]
    for who in (ada, bob):
        for task in (gold, ordinary):
            assert (await answer(who, project, task)).status == 200
    everywhere = f"project_id={project['id']}&all=1"
    runs = (await ada.get(f"/api/taskrun?{everywhere}")).json()
    assert [run["task_id"] for run in runs] == [gold, ordinary]
    assert (await served.client().get(f"/api/taskrun?{everywhere}")).json() == []
    assert (await bob.get(f"/api/taskrun/{runs[0]['id']}")).status == 403
    assert (await ada.get(f"/api/result?{everywhere}")).json() == []
    assert len((await owner.get(f"/api/result?{everywhere}")).json()) == 1
    # No state and no list tells which tasks are complete: gold tasks never are.
    assert {task["state"] for task in (await ada.get(f"/api/task?{everywhere}")).json()} == {"ongoing"}
    assert (await ada.get(f"/api/task?{everywhere}&state=completed")).json() == []
    for path in ("tasks/browse", f"tasks/{gold}", "tasks/export?type=task&format=json", "results"):
        page = await ada.get(f"/project/birds/{path}", headers={"Content-Type": "application/json"})
        assert page.status == 403 or (path == "results" and page.json()["n_results"] == 0), (path, page.text[:500])
    # They come back with the last gold task.
    for task in project["tasks"][:2]:
        assert (await owner.delete(f"/api/project/{project['id']}/gold/{task}")).status == 200
    assert len((await ada.get(f"/api/result?{everywhere}")).json()) == 2
    assert len((await ada.get(f"/api/taskrun?{everywhere}")).json()) == 4


def shape(response: Any) -> tuple[int, dict[str, str], str]:
    """What a response says beyond ids and times: status, headers and body with every digit replaced."""
    headers = {k.decode().lower(): v for k, v in response.headers.getAllRawHeaders()}
    left_out = ("date", "x-request-id", "x-ratelimit-remaining", "x-ratelimit-reset")
    masked = {k: re.sub(r"[0-9a-f]{6,}|\d+", "#", str(v)) for k, v in headers.items() if k not in left_out}
    return response.status, masked, re.sub(r"\d+", "#", response.text)


@shows("gold-hidden")
@pytest_twisted.ensureDeferred
async def test_gold_and_ordinary_task_are_the_same_bytes_for_a_volunteer(served):
    """Every address that a volunteer can ask about a task, or after it: only ids and times differ."""
    owner, project = await gold_project(served, tasks=8, gold=1)
    at, gold, ordinary = project["id"], project["tasks"][0], project["tasks"][5]
    everywhere = f"project_id={at}&all=1"
    seen: dict[int, list[Any]] = {}
    for name, task in (("ada", gold), ("bob", ordinary)):
        who = await served.person(name)
        responses = seen[task] = []
        for method, path, body in (
            ("post", f"/api/task/{task}/lease", {}),
            ("get", f"/api/task/{task}", None),
            ("get", f"/api/task/{task}?related=1", None),
            ("get", f"/api/task?id={task}&{everywhere}", None),
            ("get", f"/api/task?{everywhere}", None),
            ("get", f"/api/{at}/newtask", None),
            ("post", f"/api/task/{task}/renew", {}),
            ("post", f"/api/task/{task}/release", {"skip": True}),
            ("post", f"/api/task/{task}/lease", {}),
            ("post", "/api/taskrun", {"project_id": at, "task_id": task, "info": {"answer": "yes"}}),
            ("post", "/api/taskrun", {"project_id": at, "task_id": task, "info": {"answer": "yes"}}),
            ("post", f"/api/task/{task}/correct", {"info": {"answer": "no"}}),
            ("get", f"/api/project/{at}/userprogress", None),
            ("get", f"/api/taskrun?task_id={task}", None),
            ("get", f"/api/result?task_id={task}&{everywhere}", None),
            ("get", f"/api/task/{task}", None),
            ("get", f"/api/projectstats?{everywhere}", None),
            ("post", f"/api/task/{task}/renew", {}),
            ("post", f"/api/task/{task}/lease", {}),
        ):
            asked = getattr(who, method)
            responses.append(
                (
                    method,
                    path.replace(str(task), "T"),
                    shape(await (asked(path) if body is None else asked(path, json=body))),
                )
            )
    for one, other in zip(seen[gold], seen[ordinary], strict=True):
        path, (status, headers, text), (status_, headers_, text_) = one[1], one[2], other[2]
        same = re.sub(r"ada|bob", "who", re.sub(r'"volunteer": ?"[^"]*"', "", text))
        same_ = re.sub(r"ada|bob", "who", re.sub(r'"volunteer": ?"[^"]*"', "", text_))
        assert (status, headers, same) == (status_, headers_, same_), path
    assert owner


def leaves(value: Any, at: str = "") -> Iterator[tuple[str, Any]]:
    """The paths of all numbers and texts of a document."""
    if isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(each, f"{at}/{key}")
    else:
        yield at, value


async def public_figures(served: Any, project: Any) -> dict[str, Any]:
    """What everybody reads about a project: its record, its pages, the state of its live stream, and the site."""
    anybody, figures = served.client(), {}
    for path in (
        f"/api/project/{project['id']}", f"/api/projectstats?project_id={project['id']}&all=1", "/project/birds/live",
        "/project/birds/", "/project/birds/stats", "/api/globalstats", "/", "/project/category/featured/",
    ):  # fmt: skip
        asked = await anybody.get(path, headers={"Accept": "application/json", "Content-Type": "application/json"})
        assert asked.status == 200, (path, asked.status, asked.text[:300])
        figures |= {f"{path} {at}": value for at, value in leaves(asked.json())}
    return figures


@shows("gold-hidden", "gold-progress")
@pytest_twisted.ensureDeferred
async def test_public_figures_move_alike(served):
    owner, project = await gold_project(served, tasks=8, gold=2)
    moved: dict[bool, list[set[str]]] = {True: [], False: []}
    gold, ordinary = project["tasks"][:2], project["tasks"][2:4]
    people = [await served.person(f"person{nth}") for nth in range(9)]
    for nth, person in enumerate(people):
        is_gold = nth % 4 < 2
        before = await public_figures(served, project)
        assert (await answer(person, project, gold[0] if is_gold else ordinary[nth // 4])).status == 200
        after = await public_figures(served, project)
        if nth > 1:  # the first ones also begin lists
            names = {at for at in before.keys() | after.keys() if before.get(at) != after.get(at)}
            moved[is_gold].append({re.sub(r"/\d+(?=/|$)", "/#", at) for at in names})
    paths = set.union(*moved[True]) ^ set.union(*moved[False])
    # A time in words stands beside the time itself, and changes only when a second has gone by.
    paths -= {re.sub(r"/\d+(?=/|$)", "/#", at).removesuffix("_raw") for at in after if at.endswith("last_activity_raw")}
    assert paths == set()
    assert [at for at in after if at.endswith("/last_activity_raw")]
    assert all(
        {"n_task_runs", "overall_progress", "last_activity"} <= {at.rsplit("/", 1)[-1] for at in each}
        for each in moved[True]
    )
    bob = await served.person("eve")
    assert (await bob.get("/project/birds/events")).status == 403
    events = await served.database.fetch("SELECT task_id FROM event WHERE kind = 'task_completed'")
    assert [row["task_id"] for row in events] == ordinary
    seen = (await owner.get("/project/birds/tasks/gold", headers={"Content-Type": "application/json"})).json()
    assert (seen["overview"]["n_others"], seen["overview"]["n_finished"]) == (6, 2), "owners see how it is"
    # It is finished when all others are.
    for task in project["tasks"][4:]:
        for person in people[:2]:
            assert (await answer(person, project, task)).status == 200
    figures = await public_figures(served, project)
    at = f"/api/projectstats?project_id={project['id']}&all=1 /0/"
    shown = [figures[f"{at}{name}"] for name in ("n_tasks", "n_completed_tasks", "overall_progress")]
    assert shown == [8, 8, 100]


@shows("gold-hidden", "gold-lease")
@pytest_twisted.ensureDeferred
async def test_task_that_is_full_and_gold_task_are_the_same_to_who_names_them(served):
    """Leasing, renewing, giving back and being given again; in time, after an hour, and after all the time there is."""
    await served.database.fetch(
        "SELECT setval(pg_get_serial_sequence('task', 'id'), 70000)"
    )  # no other number is like those of tasks
    _owner, project = await gold_project(served, tasks=8, gold=1)
    gold, full, *_rest = project["tasks"]
    newtask = f"/api/{project['id']}/newtask"
    for name in ("bob", "cem"):
        assert (await answer(await served.person(name), project, full)).status == 200
    told: dict[int, list[Any]] = {gold: [], full: []}
    for name, task in (("ada", gold), ("eve", full)):
        who, one = await served.person(name), f"/api/task/{task}"

        async def ask(method: str, path: str, body: Any = ..., who: Any = who, task: int = task, **headers: Any) -> Any:
            response = await who.request(method, path, body, **headers)
            number = r'("(?:id|user_id|seconds_left|timeout)": ?)[\d.]+|taskrun/\d+|\d{4}-\d\d-[\dT:.]+'
            text = re.sub(number, r"\1#", re.sub('"volunteer": ?"[^"]*"|ada|eve', "", response.text))
            own = rf'\b{task}\b|"n": ?{project["tasks"].index(task)}\b'
            told[task].append((path, response.status, re.sub(own, "T", text)))
            return response

        for seconds in (0, 3700, 3700 * 7):
            await ask("POST", f"{one}/lease", {})
            await ask("GET", newtask)
            await served.database.execute(
                "UPDATE clock_shift SET ahead = ahead + make_interval(secs => %(s)s)", {"s": seconds}
            )
            await ask("POST", f"{one}/renew", {})
            await ask("POST", f"{one}/renew", {})
            if (await ask("POST", f"{one}/lease", {})).json() == {"state": "leased"}:
                await ask("GET", newtask)
            await ask("POST", f"{one}/lease", {})
            await ask("POST", f"{one}/release", {"skip": seconds == 3700})
            await ask("POST", f"{one}/release", {})
            await ask("POST", f"{one}/renew", {})
        await ask("POST", f"{one}/lease", {})
        run = {"project_id": project["id"], "task_id": task, "info": {"answer": "yes"}}
        assert (await ask("POST", "/api/taskrun", run)).json()["timeout"] is None
        (own,) = (await who.page(f"/account/{name}/answers")).json()[
            "answers"
        ]  # the page has the project's figures, too
        told[task].append(("own answer", 200, own["counted"]))
        await ask("POST", f"{one}/lease", {})
    for asked, other in zip(told[gold], told[full], strict=True):
        assert asked[1:] == other[1:], asked[0]
    counted = await served.database.fetch("SELECT task_id FROM task_run WHERE counted")
    assert [row["task_id"] for row in counted] == [full, full]


@shows("gold-counted")
@pytest_twisted.ensureDeferred
async def test_own_answers_do_not_say_that_they_count_for_nothing_because_of_gold(served):
    owner, project = await gold_project(served, tasks=6, gold=0)
    gold, full, doubted, *_rest = project["tasks"]
    ada, path = await served.person("ada"), f"/api/project/{project['id']}/gold"
    for name in ("bob", "cem"):
        assert (await answer(await served.person(name), project, full)).status == 200
    for task in (full, doubted):
        assert (await answer(ada, project, task)).status == 200
    await served.database.execute(
        "UPDATE task_run SET unreliable = true, counted = false WHERE task_id = %(t)s", {"t": doubted}
    )

    async def counted() -> dict[int, bool]:
        page = (await ada.page("/account/ada/answers")).json()
        return {one["task_id"]: one["counted"] for one in page["answers"]}

    assert await counted() == {full: False, doubted: True}
    assert (await owner.post(path, json={"task_id": gold, "answer": "yes"})).status == 200
    assert (await answer(ada, project, gold)).status == 200
    assert await counted() == {full: True, doubted: True, gold: True}
    assert (
        "Not counted"
        not in (await (await ada.by_session()).get("/account/ada/answers", headers={"Accept": "text/html"})).text
    )
    assert (await owner.delete(f"{path}/{gold}")).status == 200
    assert await counted() == {full: False, doubted: True, gold: True}, "also afterwards"


@shows("gold-feedback")
@pytest_twisted.ensureDeferred
async def test_feedback_comes_with_the_answer_and_only_if_the_owner_wants_it(served):
    owner, project = await gold_project(served, gold=2, gold_feedback=True)
    first, second, ordinary, *_rest = project["tasks"]
    path = f"/api/project/{project['id']}/gold"
    await owner.put(path, json={"task_id": first, "answer": "yes", "message": "The tail is striped."})
    ada = await served.person("ada")
    assert "gold" not in (await answer(ada, project, ordinary)).json()
    wrong = (await answer(ada, project, first, "no")).json()
    assert wrong["gold"] == {"is_right": False, "answers": ["yes"], "message": "The tail is striped."}
    assert (await answer(ada, project, second, "yes")).json()["gold"]["is_right"] is True
    # It was their only try.
    corrected = await ada.post(f"/api/task/{first}/correct", json={"info": {"answer": "yes"}})
    assert (corrected.status, corrected.json()["error_code"]) == (403, "in_result")
    assert (await ada.delete(f"/api/taskrun/{wrong['id']}")).status == 403
    assert (await ada.put(f"/api/taskrun/{wrong['id']}", json={"info": {"answer": "yes"}})).status == 403


def auc(values: list[float], labels: list[bool]) -> float:
    """The area under the ROC curve of a feature in the better of both directions: the rank statistic of Mann and Whitney."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks, start = [0.0] * len(values), 0
    while start < len(order):
        end = start
        while end + 1 < len(order) and values[order[end + 1]] == values[order[start]]:
            end += 1
        for k in range(start, end + 1):
            ranks[order[k]] = (start + end) / 2 + 1
        start = end + 1
    positive = sum(labels)
    wins = sum(rank for rank, label in zip(ranks, labels, strict=True) if label) - positive * (positive + 1) / 2
    area = wins / (positive * (len(values) - positive))
    return max(area, 1 - area)


def test_the_classifier_finds_what_there_is_to_find():
    chance = random.Random(1)
    labels = [chance.random() < 0.1 for _ in range(2000)]
    scores = [label + chance.random() for label in labels]
    assert auc(scores, labels) > 0.99
    assert auc([chance.random() for _ in labels], labels) < 0.55


async def shown(served: Any, project: Any) -> dict[str, float]:
    """The figures that everybody sees."""
    seen = (await served.client().get("/project/birds/live", headers={"Accept": "application/json"})).json()
    site = (await served.client().get("/api/globalstats")).json()
    return {name: float(value) for name, value in (seen | site).items() if isinstance(value, int)}


@pytest.mark.proof
@pytest.mark.size
@shows("gold-hidden")
@pytest_twisted.ensureDeferred
async def test_who_records_2000_tasks_cannot_tell_gold_better_than_chance(serve):
    """Each feature of all that a client is sent, and of its order: none tells gold tasks from others (AUC at most 0.55)."""
    served = await serve(CROWDD_RATELIMIT_LIMIT="1000000")
    owner, project = await gold_project(served, tasks=400, gold=0, gold_rate=0.25, gold_start=0.25)
    chance, path = random.Random(7), f"/api/project/{project['id']}"
    blocks = [project["tasks"][at : at + 5] for at in range(0, 400, 5)]
    gold = {chance.choice(block) for block in blocks}  # spread, or their ids would differ by how the few were drawn
    for task in sorted(gold):
        assert (await owner.post(f"{path}/gold", json={"task_id": task, "answer": "yes"})).status == 200
    await owner.post(f"{path}/redundancy", json={"n_answers": 30})
    labels: list[bool] = []
    features: dict[str, list[float]] = {}
    for number in count():
        if len(labels) >= 2000:
            break
        volunteer, last, done, before = await served.person(f"person{number}"), 0, 0, await shown(served, project)
        for nth in range(100):
            asked = await volunteer.get(f"/api/{project['id']}/newtask")
            task = asked.json()
            named = await volunteer.post(f"/api/task/{task['id']}/lease", json={})
            renewed = await volunteer.post(f"/api/task/{task['id']}/renew", json={})
            sent = await volunteer.post(
                "/api/taskrun",
                json={
                    "project_id": project["id"],
                    "task_id": task["id"],
                    "info": {"answer": chance.choice(["yes", "no"])},
                },
            )
            assert sent.status == 200, sent.text
            progress = (await volunteer.get(f"{path}/userprogress")).json()
            later = await volunteer.get(f"/api/task/{task['id']}")
            (own, *_others) = (await volunteer.page(f"/account/person{number}/answers")).json()["answers"]
            figures = await shown(served, project)
            measures = {
                "id": task["id"], "after": task["id"] - last, "behind": float(task["id"] < last), "nth": nth,
                "length": len(asked.text), "headers": len(str(asked.headers)), "sent": len(sent.text),
                "sent headers": len(str(sent.headers)), "keys": len(task), "run": sent.json()["id"],
                "timeout": float(sent.json()["timeout"] is not None), "done": progress["done"] - done,
                "total": progress["total"], "later": len(later.text), "state": float(later.json()["state"] == "ongoing"),
                "leased": len(named.text), "renewed": len(re.sub(r"\d+", "", renewed.text)), "counted": float(own["counted"]),
                **{name: value - before[name] for name, value in figures.items()}, "priority": task["priority_0"], "n_answers": task["n_answers"], "created": hash(task["created"]) % 1000,
            }  # fmt: skip
            labels.append(task["id"] in gold)
            for name, value in measures.items():
                features.setdefault(name, []).append(float(value))
            last, done, before = task["id"], progress["done"], figures
        assert number < 50
    assert 300 < sum(labels) < 700
    areas = {name: round(auc(values, labels), 3) for name, values in features.items()}
    assert max(areas.values()) <= 0.55, areas
    # The weighted sum that fits the first half best, on the second half.
    half = len(labels) // 2
    scaled = {name: [value - fmean(values) for value in values] for name, values in features.items()}
    spread = {name: fmean(abs(value) for value in values) or 1.0 for name, values in scaled.items()}
    weights = {
        name: fmean(v for v, gold_ in zip(values[:half], labels[:half], strict=True) if gold_) / spread[name]
        for name, values in scaled.items()
    }
    scores = [sum(weights[name] * scaled[name][k] / spread[name] for name in scaled) for k in range(half, len(labels))]
    assert auc(scores, labels[half:]) <= 0.56


@shows("page-gold", "gold-uncounted", "gold-accuracy")
@pytest_twisted.ensureDeferred
async def test_owners_make_gold_tasks_on_pages_and_see_how_they_are_answered(served):
    owner, project = await gold_project(served, gold=0)
    ada, bob = await served.person("ada"), await served.person("bob")
    first, second, third, *_rest = project["tasks"]
    for task, value in ((first, "yes"), (second, "no"), (third, "no")):
        for who in (ada, bob):
            assert (await answer(who, project, task, "yes" if who is bob and task == third else value)).status == 200
    pages, at = await owner.by_session(), "/project/birds/tasks/gold"
    assert (await ada.get(at)).status == 403
    form = (await pages.get(f"{at}/add?task_ids={first}", headers={"Content-Type": "application/json"})).json()
    assert form["form"]["answer"] == "yes" and form["choices"] == ["yes", "no"] and form["gold"] is None
    # Of the ticked tasks that whose answers do not agree is left out.
    sent = await pages.send_form(f"{at}/add", {"task_ids": f"{first},{second},{third}"}, at)
    assert sent.status == 200, sent.text
    seen = (await pages.get(at, headers={"Content-Type": "application/json"})).json()
    assert [one["task_id"] for one in seen["gold_tasks"]] == [first, second]
    assert (seen["overview"]["n_gold"], seen["overview"]["sched"], seen["overview"]["ordered"]) == (2, "random", False)
    assert (seen["n_tasks"], seen["overview"]["n_others"], seen["overview"]["n_finished"]) == (6, 4, 1)
    usual = round(100 * GOLD_SHARES["gold_rate"].default)
    assert f"{usual} is enough for most projects." in (await pages.get(at, headers={"Accept": "text/html"})).text
    changed = await pages.send_form(f"{at}/add", {"task_ids": str(first), "answer": "no", "message": "Look."}, at)
    assert changed.status == 200, changed.text
    for values, status in (
        ({"gold_rate": "60", "gold_start": "30"}, "error"),
        ({"gold_rate": "10", "gold_start": "30", "gold_feedback": "y", "show_accuracy": "y"}, "success"),
    ):
        assert (await pages.send_form(at, values)).json()["status"] == status, values
    info = (await owner.get(f"/api/project/{project['id']}")).json()["info"]
    assert (info["gold_rate"], info["gold_feedback"]) == (0.1, True)
    carl = await served.person("carl")
    assert (await answer(carl, project, first, "no")).json()["gold"] == {
        "is_right": True, "answers": ["no"], "message": "Look."
    }  # fmt: skip
    assert "accuracy" not in (await carl.get("/api/project/birds/userprogress")).json()
    assert (await pages.send_form(f"{at}/{first}/end", {}, at)).status == 200
    assert [one["task_id"] for one in (await owner.get(f"/api/project/{project['id']}/gold")).json()] == [second]
