"""Groups: who joins them and how, what their owner sees, what is stored of guests, and how their answers count."""

from __future__ import annotations

from typing import Any

import pytest
import pytest_twisted
from support.browsers import signed_in
from support.checks.invariants import invariants
from support.checks.shows import shows
from support.ledger import Ledger
from twisted.internet.defer import ensureDeferred, gatherResults

from crowdd.core.secrets import Secrets
from crowdd.features.groups import statements
from crowdd.features.groups.joining import CODES_PER_HOUR
from crowdd.features.groups.networks import Networks
from crowdd.features.people import personal_data_statements
from crowdd.features.people.feature import PeopleFeature
from crowdd.http.auth.cookies import VOLUNTEER
from crowdd.kernel.requester import Requester

PLACE = "192.0.2.1"
RULE = {"CROWDD_VOLUNTEERS_COUNTED_PER_NETWORK": "1", "CROWDD_HTTP_TRUSTED_PROXIES": "127.0.0.1"}
ENDED = "UPDATE volunteer_group SET last_day = (clock() AT TIME ZONE 'UTC')::date - %(days)s"


@pytest.fixture
def ledger(dsn):
    made = Ledger(dsn)
    yield made
    assert invariants(made.connection) == []
    made.close()


@pytest_twisted.async_yield_fixture
async def school(serve):
    """A site on which all are behind one address, and somebody who makes groups."""
    served = await serve(**RULE)
    await served.person("ruth")
    yield served


class Class:
    """A group, and the browser of the person who made it."""

    def __init__(self, owner: Any, name: str, group_id: int) -> None:
        self.owner, self.name, self.id = owner, name, group_id
        self.at = f"/account/{name}/groups/{group_id}"

    async def page(self, below: str = "") -> dict[str, Any]:
        answer = await self.owner.page(f"{self.at}{below}")
        assert answer.status == 200, answer.text
        return answer.json()

    async def code(self) -> str:
        return (await self.page())["group"]["code"]

    async def post(self, below: str, **fields: Any) -> Any:
        return await form(self.owner, f"{self.at}{below}", self.at, **fields)


async def form(browser: Any, path: str, at: str, **fields: Any) -> Any:
    """Sends a form of the page ``at``."""
    token = (await browser.page(at)).json()["form"]["csrf"]
    return await browser.post(path, json=fields, headers={"X-CSRFToken": token})


async def made(served: Any, name: str = "ruth", size: int = 28) -> Class:
    browser = await signed_in(served, name)
    day = (await served.database.fetch("SELECT ((clock() AT TIME ZONE 'UTC')::date + 90)::text AS day"))[0]["day"]
    at = f"/account/{name}/groups"
    answer = await form(browser, at, at, name="Class 5b", size=str(size), last_day=day)
    assert answer.status == 200 and "id" in answer.json(), answer.text
    return Class(browser, name, answer.json()["id"])


def device(served: Any, address: str = PLACE) -> Any:
    return served.client(**{"X-Forwarded-For": address})


async def join(browser: Any, code: str, name: str = "", number: str = "") -> Any:
    return await form(browser, "/join", "/join", code=code, name=name, number=number)


async def guests(served: Any, code: str, count: int, begin: int = 0) -> list[Any]:
    browsers = [device(served) for _ in range(count)]
    for nth, browser in enumerate(browsers):
        answer = await join(browser, code, f"Otter{begin + nth}")
        assert answer.json()["next"] == "/group", answer.text
    return browsers


async def asked(browser: Any, project: dict[str, Any]) -> Any:
    answer = await browser.get(f"/api/project/{project['id']}/newtask?explain=1")
    assert answer.status == 200, answer.text
    return answer.json().get("id") or answer.json()["reason"]


async def answer(browser: Any, project: dict[str, Any], task: int) -> int:
    body = {"project_id": project["id"], "task_id": task, "info": "fox"}
    return (await browser.post("/api/taskrun", json=body)).status


async def contribute(browser: Any, project: dict[str, Any]) -> Any:
    task = await asked(browser, project)
    if isinstance(task, int):
        assert await answer(browser, project, task) == 200
    return task


async def published(served: Any, allowed: int | None = None, **more: Any) -> dict[str, Any]:
    """A project of somebody else; ``allowed``: its limit of a group."""
    owner = await served.person(f"owner{len(await served.database.fetch('SELECT FROM account'))}")
    project = await served.project(
        owner, f"foxes{owner.user_id}", published=True, **{"tasks": 1, "n_answers": 28, **more}
    )
    if allowed is not None:
        info = {"task_presenter": "<p>?</p>", "counted_per_group": allowed}
        changed = await owner.put(f"/api/project/{project['id']}", json={"info": info})
        assert changed.status == 200, changed.text
    return {**project, "owner": owner}


def counted(ledger: Any, project: dict[str, Any]) -> int:
    return ledger.value("SELECT count(*) FROM task_run WHERE counted AND project_id = %(p)s", p=project["id"])


# How answers count


@pytest.mark.proof
@shows("lease-groups")
@pytest_twisted.ensureDeferred
async def test_a_class_of_28_on_one_address_gives_28_answers_to_a_task(school, ledger):
    group, project = await made(school), await published(school, allowed=28)
    browsers = await guests(school, await group.code(), 28)
    tasks = await gatherResults([ensureDeferred(contribute(browser, project)) for browser in browsers])
    assert set(tasks) == set(project["tasks"]) and counted(ledger, project) == 28
    assert ledger.value("SELECT count(DISTINCT actor) FROM task_run") == 28
    page = await group.page("/board")
    assert (page["answers"], page["n_active"], page["n_members"], page["members"]) == (28, 28, 28, [])


@shows("lease-groups")
@pytest_twisted.ensureDeferred
async def test_a_group_is_one_network_unless_the_owner_of_the_project_allows_more(school, ledger):
    group, project = await made(school), await published(school)
    first, second = await guests(school, await group.code(), 2)
    assert await contribute(first, project) == project["tasks"][0]
    reply = await second.get(f"/api/project/{project['id']}/newtask?explain=1")
    assert reply.json()["message"] == "Others in your group have answered the remaining tasks."
    neighbour = device(school)
    await neighbour.get("/about", headers={"Accept": "text/html"})
    assert await contribute(neighbour, project) == project["tasks"][0], "who is in no group is of the address"
    assert counted(ledger, project) == 2


@shows("lease-groups")
@pytest_twisted.ensureDeferred
async def test_all_groups_of_a_person_share_what_a_project_allows(school, ledger):
    project = await published(school, allowed=2)
    one, two = await made(school), await made(school)
    browsers = await guests(school, await one.code(), 3) + await guests(school, await two.code(), 3, begin=3)
    outcomes = [await contribute(browser, project) for browser in browsers]
    assert outcomes.count(project["tasks"][0]) == counted(ledger, project) == 2
    await school.person("karl")
    other = await made(school, "karl")
    (stranger,) = await guests(school, await other.code(), 1)
    assert await contribute(stranger, project) == project["tasks"][0], "another person's groups are other networks"


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_a_group_counts_for_no_more_than_its_number_of_people(school, ledger):
    group, project = await made(school, size=2), await published(school, allowed=1000)
    first, second = await guests(school, await group.code(), 2)
    assert await contribute(first, project) == await contribute(second, project)
    await remove_first(group)
    (third,) = await guests(school, await group.code(), 1, begin=7)
    assert await contribute(third, project) == "network", "who takes an empty seat takes its share, too"
    assert counted(ledger, project) == 2


async def remove_first(group: Class) -> None:
    """The owner removes a member."""
    member = (await group.page())["members"][0]["id"]
    assert (await group.post(f"/members/{member}/remove")).status == 200


@pytest_twisted.ensureDeferred
async def test_two_guests_with_one_share_answer_at_once_and_one_counts(school, ledger):
    group, project = await made(school), await published(school, n_answers=3)
    first, second = await guests(school, await group.code(), 2)
    task = await asked(first, project)
    assert await asked(second, project) == "wait"
    # The second one had it open before.
    await school.database.execute(
        "INSERT INTO expired_lease (project_id, actor, task_id, granted, expires, skipped)"
        " SELECT %(p)s, actor, %(t)s, clock(), clock(), false FROM group_member WHERE name = 'Otter1'",
        {"p": project["id"], "t": task},
    )
    both = await gatherResults([ensureDeferred(answer(each, project, task)) for each in (first, second)])
    assert both == [200, 200] and counted(ledger, project) == 1


@pytest_twisted.ensureDeferred
async def test_what_the_browser_has_answered_before_the_guest_has_answered(school, ledger):
    group, project = await made(school), await published(school, allowed=28)
    browser = device(school)
    await browser.get("/about", headers={"Accept": "text/html"})
    assert await contribute(browser, project) == project["tasks"][0]
    await join(browser, await group.code(), "Otter")
    assert await asked(browser, project) == "none"
    other = browser.cookies[VOLUNTEER]
    await join(browser, await group.code(), "Fox")
    assert browser.cookies[VOLUNTEER] != other
    assert await contribute(browser, project) == project["tasks"][0], "two guests on one device are two people"


@pytest_twisted.ensureDeferred
async def test_after_the_last_day_a_guest_is_of_the_address_again(school, ledger):
    group, project = await made(school), await published(school, allowed=28)
    first, second = await guests(school, await group.code(), 2)
    await school.database.execute(ENDED, {"days": 1})
    assert (await first.page("/group")).status == 404
    assert await contribute(first, project) == project["tasks"][0]
    assert await asked(second, project) == "network"
    assert (await group.page())["link"] is None
    await statements.sweep(school.database)
    assert (await group.page())["group"]["lasts"] is False
    await school.database.execute(ENDED, {"days": statements.KEPT_DAYS + 1})
    assert await statements.sweep(school.database) == 1
    assert (await group.owner.page(group.at)).status == 404
    assert await school.database.fetch("SELECT FROM group_member") == []


def test_who_is_in_no_group_costs_no_statement():
    secrets = Secrets(b"k" * 32)
    networks = Networks(None, lambda *_: None, secrets, lambda: 0.0)
    for who in (Requester(network="192.0.2.9"), Requester(user_id=5, volunteer="g.x", network="192.0.2.9")):
        with pytest.raises(StopIteration) as done:
            networks.of(who, 1).send(None)
        assert done.value.value == secrets.address_in(1, 1970, "192.0.2.9")


@shows("page-volunteers")
@pytest_twisted.ensureDeferred
async def test_the_owner_of_a_project_says_how_many_answers_of_a_group_count(school, ledger):
    project = await published(school)
    at = f"/project/foxes{project['owner'].user_id}/volunteers"
    for text, stored in (("5", 5), ("1000", 1000), ("", None)):
        assert (await project["owner"].post(at, json={"counted_per_group": text})).status == 200
        info = (await project["owner"].get(f"/api/project/{project['id']}")).json()["info"]
        assert info.get("counted_per_group") == stored and info["task_presenter"] == "<p>?</p>"
    for text in ("0", "1001", "many"):
        refused = await project["owner"].post(at, json={"counted_per_group": text})
        assert refused.json()["form"]["errors"].keys() == {"counted_per_group"}, text
    for value in (0, 1001, "5", True):
        info = {"task_presenter": "<p>?</p>", "counted_per_group": value}
        refused = await project["owner"].put(f"/api/project/{project['id']}", json={"info": info})
        assert refused.status == 415, value


# Who joins, and how


@shows("page-join")
@pytest_twisted.ensureDeferred
async def test_a_guest_comes_back_on_another_device_with_name_and_number(school):
    group = await made(school)
    code, phone = await group.code(), device(school)
    joined = await join(phone, f" {code[:3].lower()} {code[3:]}", "Otter")
    assert joined.json()["next"] == "/group"
    volunteer = phone.cookies[VOLUNTEER].partition("~")[0]
    assert volunteer.startswith("g.")
    number = joined.json()["number"]
    tablet = device(school, "198.51.100.7")
    assert (await join(tablet, code, "otter")).json()["form"]["errors"].keys() == {"name"}
    wrong = f"{(int(number) + 1) % 10**6:06}"
    assert (await join(tablet, code, "Otter", wrong)).json()["form"]["errors"].keys() == {"number"}
    assert (await join(tablet, code, "Otter", number)).json()["next"] == "/group"
    assert tablet.cookies[VOLUNTEER].partition("~")[0] == volunteer
    new = (await form(tablet, "/group/number", "/group")).json()["number"]
    third = device(school)
    assert (await join(third, code, "Otter", number)).json()["form"]["errors"].keys() == {"number"}
    assert (await join(third, code, "Otter", new)).json()["next"] == "/group"
    assert (await form(third, "/group/leave", "/group")).json()["next"] == "/join"
    assert (await third.page("/group")).status == 404
    assert len((await group.page())["members"]) == 1


@shows("page-join")
@pytest.mark.parametrize("name", ["", "Ada Lovelace", "ada@example.org", "x" * 21, "a\u200bb"])
@pytest_twisted.ensureDeferred
async def test_a_name_is_one_word(school, name):
    group = await made(school)
    refused = await join(device(school), await group.code(), name)
    assert refused.json()["form"]["errors"].keys() == {"name"}


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_codes_and_numbers_cannot_be_tried_out(school):
    group = await made(school)
    code, phone = await group.code(), device(school)
    number = (await join(phone, code, "Otter")).json()["number"]
    thief = device(school, "198.51.100.7")
    wrong = f"{(int(number) + 1) % 10**6:06}"
    statuses = [(await join(thief, code, "Otter", wrong)).status for _ in range(21)]
    assert statuses[-1] == 429 and 429 not in statuses[:-1]
    assert (await join(thief, code, "Otter", number)).status == 429, "the right one, too"
    statuses = [(await join(thief, "BBBBBB", "Otter")).status for _ in range(CODES_PER_HOUR + 1)]
    assert statuses[-1] == 429 and 429 not in statuses[:-1]
    assert (await join(thief, code, "Fox")).status == 429
    assert (await join(device(school, "203.0.113.1"), code, "Fox")).json()["next"] == "/group"


@pytest_twisted.ensureDeferred
async def test_a_group_is_full_and_a_code_ends(school):
    group = await made(school, size=2)
    code = await group.code()
    rivals = [device(school) for _ in range(4)]
    both = await gatherResults([ensureDeferred(join(each, code, f"Otter{n}")) for n, each in enumerate(rivals)])
    assert sum(each.json().get("next") == "/group" for each in both) == 2
    assert [each.json()["form"]["errors"].keys() for each in both if "form" in each.json()] == [{"code"}] * 2
    assert (await group.post("", size="1")).json()["form"]["errors"].keys() == {"size"}
    assert (await group.post("", size="5")).status == 200
    await group.post("/open")
    assert (await join(device(school), code, "Late")).json()["form"]["errors"].keys() == {"code"}
    fresh = await group.code()
    assert fresh != code and (await join(device(school), fresh, "Late")).json()["next"] == "/group"
    await group.post("/close")
    assert await group.code() is None
    assert (await join(device(school), fresh, "Later")).json()["form"]["errors"].keys() == {"code"}


@pytest_twisted.ensureDeferred
async def test_one_name_is_given_once_when_two_ask_at_once(school):
    group = await made(school)
    code, rivals = await group.code(), [device(school), device(school)]
    both = await gatherResults([ensureDeferred(join(each, code, "Otter")) for each in rivals])
    assert sorted(each.json().get("next", "") for each in both) == ["", "/group"]


@shows("account-groups")
@pytest_twisted.ensureDeferred
async def test_somebody_with_an_account_joins_counts_from_then_on_and_leaves(school, ledger):
    group, project = await made(school), await published(school, tasks=2, n_answers=1)
    await school.person("ada")
    ada = await signed_in(school, "ada")
    assert await contribute(ada, project) in project["tasks"]
    assert (await join(ada, await group.code())).json()["next"] == "/account/ada/groups"
    assert (await join(ada, await group.code())).json()["next"] == "/account/ada/groups"
    await contribute(ada, project)
    (member,) = (await group.page())["members"]
    assert (member["name"], member["guest"], member["answers"]) == ("ada", False, 1)
    page = (await ada.page("/account/ada/groups")).json()
    assert page["groups"] == [] and [(one["name"], one["answers"]) for one in page["joined"]] == [("Class 5b", 1)]
    await form(ada, f"/account/ada/groups/{group.id}/leave", "/account/ada/groups")
    assert (await group.page())["members"] == []


# What others see


@shows("account-groups")
@pytest_twisted.ensureDeferred
async def test_the_owner_sees_counts_and_hours_and_nobody_else_sees_anything(school, ledger):
    group, project = await made(school), await published(school, allowed=28, tasks=2)
    first, _second = await guests(school, await group.code(), 2)
    await contribute(first, project)
    page = await group.page()
    assert [(one["name"], one["answers"]) for one in page["members"]] == [("Otter0", 1), ("Otter1", 0)]
    assert page["members"][0].keys() == {"id", "name", "guest", "joined", "answers"}
    await group.post("", shows_names=True)
    board = await group.page("/board")
    assert [(one["name"], one["answers"]) for one in board["members"]] == [("Otter0", 1), ("Otter1", 0)]
    ledger.run("UPDATE task_run SET circumstances = '{\"seconds_active\": 5400}'")
    file = await group.owner.get(f"{group.at}/hours.csv")
    assert [line.split(",")[0:1] + line.split(",")[2:] for line in file.text.splitlines()[1:]] == [
        ["Otter0", "1", "1.50"],
        ["Otter1", "0", "0.00"],
    ]
    await school.person("bob")
    bob = await signed_in(school, "bob")
    for below in ("", "/board", "/hours.csv"):
        assert (await bob.page(f"{group.at}{below}")).status == 403
        assert (await bob.page(f"/account/bob/groups/{group.id}{below}")).status == 404
        assert (await first.page(f"{group.at}{below}")).status == 302
    member = page["members"][0]["id"]
    for below in ("", "/open", "/close", "/delete", "/leave", f"/members/{member}/remove"):
        refused = await form(bob, f"/account/bob/groups/{group.id}{below}", "/account/bob/groups")
        assert refused.status == 404, below
    assert len((await group.page())["members"]) == 2


@pytest_twisted.ensureDeferred
async def test_what_is_no_group_is_refused_field_by_field(school):
    owner = await signed_in(school, "ruth")
    at = "/account/ruth/groups"
    for field, value in (
        ("name", ""),
        ("size", "0"),
        ("size", "201"),
        ("last_day", "2020-01-01"),
        ("last_day", "soon"),
    ):
        fields = {"name": "Class", "size": "5", "last_day": "", field: value}
        if field != "last_day":
            fields["last_day"] = (await school.database.fetch("SELECT (clock()::date + 9)::text AS day"))[0]["day"]
        refused = await form(owner, at, at, **fields)
        assert refused.json()["form"]["errors"].keys() == {field}, (field, value)


# What is stored


@shows("guest-data")
@pytest_twisted.ensureDeferred
async def test_a_guest_has_a_name_and_nothing_else(school):
    group, project = await made(school), await published(school, allowed=28)
    accounts = len(await school.database.fetch("SELECT FROM account"))
    browser = device(school)
    await join(browser, await group.code(), "Wolpertinger")
    await contribute(browser, project)
    await browser.page("/group")
    assert len(await school.database.fetch("SELECT FROM account")) == accounts, (
        "no account, so no e-mail and no full name"
    )
    tables = await school.database.fetch(
        "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
    )
    places = [
        table["name"]
        for table in tables
        if await school.database.fetch(f"SELECT FROM \"{table['name']}\" t WHERE t::text ILIKE '%wolpertinger%'")
    ]
    assert places == ["group_member"]
    (row,) = await school.database.fetch("SELECT * FROM group_member")
    assert row.keys() == {
        "id",
        "group_id",
        "seat",
        "name",
        "actor",
        "user_id",
        "number_hash",
        "joined",
        "answers_before",
        "off_board",
    }
    assert row["user_id"] is None and row["actor"].startswith("c:g.")


@pytest_twisted.ensureDeferred
async def test_groups_are_in_the_file_of_their_person_and_go_with_the_account(school):
    group = await made(school)
    await school.person("ada")
    ada = await signed_in(school, "ada")
    await join(ada, await group.code())
    await guests(school, await group.code(), 1)
    ids = {row["name"]: row["id"] for row in await school.database.fetch("SELECT id, name FROM account")}
    (row,) = await personal_data_statements.rows(school.database, "groups", ids["ruth"], 0)
    assert row["name"] == "Class 5b" and "code" not in row
    (row,) = await personal_data_statements.rows(school.database, "memberships", ids["ada"], 0)
    assert row["name"] == "ada"
    deletion = school.house[PeopleFeature].account_deletion

    async def quiet(done: int) -> None:
        pass

    await deletion.carry_out(ids["ada"], quiet)
    assert [one["name"] for one in (await group.page())["members"]] == ["Otter0"]
    await deletion.carry_out(ids["ruth"], quiet)
    assert await school.database.fetch("SELECT FROM group_member") == []


@shows("account-groups", "account-leaderboards")
@pytest_twisted.ensureDeferred
async def test_the_board_orders_names_by_time_if_the_group_wishes_and_members_leave_it(school):
    """One transcribed line is worth more than three clicks."""
    group = await made(school)
    first, second, third = await guests(school, (await group.page())["group"]["code"], 3)
    clicks, letters = await published(school, tasks=5), await published(school, tasks=5)
    for _n in range(3):
        await contribute(first, clicks)
    await contribute(second, letters)
    for project, seconds in ((clicks, 2), (letters, 90)):
        await school.database.execute(
            "UPDATE task_run SET created = finish_time - interval '1 h', circumstances = jsonb_build_object('seconds_active', %(seconds)s)"
            " WHERE project_id = %(project)s",
            {"project": project["id"], "seconds": seconds},
        )
    for job in ("fold_counters", "count_boards"):
        await school.run_job(job)

    async def board() -> list[Any]:
        return [(one["name"], one["answers"], one["seconds"]) for one in (await group.page("/board"))["members"]]

    assert await board() == []
    await group.post("", ranks=True)
    assert await board() == [], "no names unless the group wishes them"
    await group.post("", shows_names=True)
    assert await board() == [("Otter1", 1, 90), ("Otter0", 3, 6), ("Otter2", 0, 0)]
    assert (await form(second, "/group/board", "/group", on_board="false")).status == 200
    assert (await second.page("/group")).json()["group"]["on_board"] is False
    page = await group.page("/board")
    assert [one["name"] for one in page["members"]] == ["Otter0", "Otter2"]
    assert (page["answers"], page["n_members"]) == (4, 3), "what they gave counts all the same"
    await form(second, "/group/board", "/group", on_board="true")
    assert len(await board()) == 3
    stranger = device(school)
    assert (await form(stranger, "/group/board", "/join", on_board="false")).status == 404
    assert (await third.page("/group")).json()["group"]["on_board"] is True
