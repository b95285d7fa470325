"""Names of people, projects and categories: nothing in them is invisible, and no two look alike."""

from __future__ import annotations

from typing import Any

import pytest_twisted
from support.browsers import newcomer, registration
from support.checks.shows import shows
from twisted.internet.defer import ensureDeferred, gatherResults

ZERO_WIDTH, OVERRIDE = "\N{ZERO WIDTH SPACE}", "\N{RIGHT-TO-LEFT OVERRIDE}"
CYRILLIC_A = "\N{CYRILLIC SMALL LETTER A}"
INVISIBLE = f"Delete the invisible character U+200B {'ZERO WIDTH SPACE'}."


async def sign_up(served: Any, name: str, **more: str) -> dict[str, Any]:
    """The answer to a registration from a new browser."""
    form = {**registration("x"), "name": name, "email_addr": f"{abs(hash((name, *more.items())))}@example.org", **more}
    return (await served.client().send_form("/account/register", form)).json()


def errors(answer: dict[str, Any]) -> dict[str, list[str]]:
    """The mistakes that a form answers with; {} when it was taken."""
    return answer.get("form", {}).get("errors", {})


@shows("account-register", "name-unique", "name-characters")
@pytest_twisted.ensureDeferred
async def test_nobody_signs_up_with_a_name_that_is_or_looks_like_anothers(served):
    await newcomer(served, "mara")
    assert errors(await sign_up(served, f"mara{ZERO_WIDTH}")) == {"name": [INVISIBLE]}
    assert "U+202E RIGHT-TO-LEFT OVERRIDE" in errors(await sign_up(served, f"mara{OVERRIDE}"))["name"][0]
    assert errors(await sign_up(served, ZERO_WIDTH * 3)) == {"name": [INVISIBLE]}
    alike = {"name": ["This name looks like a name that is taken. Change more than letters that look the same."]}
    for name in (f"m{CYRILLIC_A}ra", "rnara", "MАRА", "ｒｎａｒａ", "exаmples", "sіgnin"):
        assert errors(await sign_up(served, name)) == alike, name
    for name in ("Mara", "ｍara"):  # of full width, and stored as usual
        assert errors(await sign_up(served, name)) == {"name": ["This name is taken."]}
    for name in ("marа2", "тара", "mira"):
        assert errors(await sign_up(served, name)) == {}, name


@shows("account-register")
@pytest_twisted.ensureDeferred
async def test_full_names_may_be_short_and_alike_but_show_all_that_they_have(served):
    for number, fullname in enumerate(("王芳", "이준", "Bo", "芳", "Bо", "Bo")):
        assert errors(await sign_up(served, f"user-{number}x", fullname=fullname)) == {}
    shown = [row["fullname"] for row in await served.database.fetch("SELECT fullname FROM account ORDER BY id")]
    assert shown == ["王芳", "이준", "Bo", "芳", "Bо", "Bo"]
    assert errors(await sign_up(served, "wang", fullname="")) == {"fullname": ["Use 1 to 100 characters."]}
    assert errors(await sign_up(served, "wang", fullname=f"王芳{ZERO_WIDTH}")) == {"fullname": [INVISIBLE]}
    assert errors(await sign_up(served, "芳芳", fullname="王芳")) == {}
    assert "2 to 35" in errors(await sign_up(served, "芳"))["name"][0]
    person = await served.person("ada")
    refused = await person.put(f"/api/user/{person.user_id}", json={"fullname": f"Ada{OVERRIDE}"})
    assert refused.status == 415 and refused.json()["exception_msg"] == (
        "`fullname` contains the invisible character U+202E RIGHT-TO-LEFT OVERRIDE. Delete it."
    )
    assert (await person.put(f"/api/user/{person.user_id}", json={"fullname": "Ada"})).json()["fullname"] == "Ada"


@shows("account-register")
@pytest_twisted.ensureDeferred
async def test_a_form_is_told_all_its_mistakes_at_once(served):
    await newcomer(served, "ada")
    sent = {"fullname": "", "email_addr": "ada@example.org", "password": "short", "confirm": "other"}
    assert errors(await sign_up(served, "ADA", **sent)).keys() == {"name", *sent}


@shows("account-register", "account-register-sent")
@pytest_twisted.ensureDeferred
async def test_whether_an_address_has_an_account_stays_untold_where_it_is_confirmed(serve):
    served = await serve(CROWDD_ACCOUNTS_CONFIRM_EMAIL="on")
    await served.person("ada")
    (row,) = await served.database.fetch("SELECT email_addr FROM account WHERE name = 'ada'")
    assert errors(await sign_up(served, "b", email_addr=row["email_addr"])).keys() == {"name"}


@pytest_twisted.ensureDeferred
async def test_telling_of_an_address_counts_as_a_sign_up(serve):
    served = await serve(CROWDD_ACCOUNTS_SIGNUPS_PER_HOUR="2")
    await served.person("ada")
    (row,) = await served.database.fetch("SELECT email_addr FROM account WHERE name = 'ada'")
    answers = [await sign_up(served, "b", email_addr=row["email_addr"]) for _ in range(3)]
    assert [answer.get("code", set(errors(answer))) for answer in answers] == [*[{"name", "email_addr"}] * 2, 429]


@shows("name-unique")
@pytest_twisted.ensureDeferred
async def test_of_names_that_look_alike_and_come_at_once_one_is_taken(served):
    names = ["mara", f"m{CYRILLIC_A}ra", "rnara", "MARA", f"MАR{CYRILLIC_A}"]
    answers = await gatherResults([ensureDeferred(sign_up(served, name)) for name in names])
    assert sorted(set(errors(answer)) == {"name"} for answer in answers) == [False, True, True, True, True]
    assert len(await served.database.fetch("SELECT FROM account")) == 1


@shows("name-unique", "name-characters")
@pytest_twisted.ensureDeferred
async def test_a_person_takes_no_name_that_looks_like_anothers_and_keeps_an_old_one(served):
    await served.person("mara")
    browser = await newcomer(served, "ada")
    page = "/account/ada/update"
    csrf = (await browser.page(page)).json()["form"]["csrf"]

    async def update(**more: str) -> dict[str, Any]:
        answer = await browser.post(page, json={"btn": "Profile", **more}, headers={"X-CSRFToken": csrf})
        return answer.json()

    for name in (f"m{CYRILLIC_A}ra", "rnara"):
        assert "looks like" in errors(await update(name=name))["name"][0]
    assert errors(await update(fullname=f"Ada{ZERO_WIDTH}")) == {"fullname": [INVISIBLE]}
    await served.database.execute(f"UPDATE account SET name = 'ada★', fullname = 'Ada{ZERO_WIDTH}' WHERE name = 'ada'")
    page = "/account/ada%E2%98%85/update"
    assert (await update(subscribed="y"))["status"] == "success", "what is stored may go on"


async def create(owner: Any, kind: str, name: str, short_name: str, **more: str) -> tuple[int, str]:
    """Status and message of a new project or category."""
    body = {"name": name, "short_name": short_name, "description": "x", **more}
    answer = await owner.post(f"/api/{kind}", json=body)
    return answer.status, answer.json().get("exception_msg", "")


@shows("name-unique", "name-characters", "project-names-unique")
@pytest_twisted.ensureDeferred
async def test_no_two_projects_or_categories_look_alike(served):
    boss = await served.person("boss", admin=True)
    for kind in ("project", "category"):
        assert await create(boss, kind, "Map 10 of Paris", "map") == (200, "")
        for name, short_name, words in (
            (f"Map{ZERO_WIDTH} 12", "map12", "`name` contains the invisible character U+200B"),
            ("Map 12", f"map{ZERO_WIDTH}12", "`short_name` contains the invisible character U+200B"),
            (ZERO_WIDTH, "map12", "`name` contains the invisible character"),
            ("Map 12", "map★", "`short_name` must not contain ★ (U+2605 BLACK STAR). Use letters and digits."),
            (f"M{CYRILLIC_A}p 10  of\u00a0Paris", "map12", f"A {kind} whose name looks the same exists already."),
            ("Map lO of Paris", "map12", f"A {kind} whose name looks the same exists already."),
            ("MAP 10 of Paris", "map12", f"A {kind} with this name exists already."),
            ("Map 12", "rnap", f"A {kind} whose short_name looks the same exists already."),
            ("Map 12", "MAP", f"A {kind} whose short_name looks the same exists already."),
        ):
            status, message = await create(boss, kind, name, short_name)
            assert status == 415 and words in message, (name, message)
        assert await create(boss, kind, "Map 12 · Paris 🗺\ufe0f", "map12") == (200, "")
        (row,) = (await boss.get(f"/api/{kind}?short_name=map12&all=1")).json()
        refused = await boss.put(f"/api/{kind}/{row['id']}", json={"name": f"M{CYRILLIC_A}p 10 of Paris"})
        assert refused.json()["exception_cls"] == "DBIntegrityError"
        changed = await boss.put(f"/api/{kind}/{row['id']}", json={**row, "name": "Cafe\u0301"})
        assert changed.json()["name"] == "Café"
        bodies = (
            [(f"P{CYRILLIC_A}ge", "page-1"), ("Page", "page-2")]
            if kind == "project"
            else [("Pаge", "p"), ("Page", "q")]
        )
        made = await gatherResults([ensureDeferred(create(boss, kind, *names)) for names in bodies])
        assert sorted(status for status, _ in made) == [200, 415]


@shows("name-unique", "name-characters", "page-new-post", "admin-categories")
@pytest_twisted.ensureDeferred
async def test_forms_of_projects_and_categories_say_it_too(served):
    boss = await served.person("boss", admin=True)
    await served.project(boss, "birds")
    (row,) = await served.database.fetch("SELECT name FROM project")
    alike = row["name"].replace("i", "і")
    sent = {"name": alike, "short_name": "bіrds", "description": "x"}
    refused = errors((await boss.send_form("/project/new", sent)).json())
    assert list(refused) in (["name"], ["short_name"]) and "look" in str(refused)
    unseen = {**sent, "name": f"Owls{ZERO_WIDTH}", "short_name": f"owls{OVERRIDE}"}
    assert {name: words[0][:30] for name, words in errors((await boss.send_form("/project/new", unseen)).json()).items()} == {
        "name": "Delete the invisible character",
        "short_name": "Delete the invisible character",
    }  # fmt: skip
    made = (await boss.send_form("/project/new", {"name": "Owls", "short_name": "ｏwls", "description": "x"})).json()
    assert made["next"] == "/project/owls/tasks/taskpresentereditor", "of full width, and stored as usual"
    update = (await boss.send_form("/project/owls/update", {"name": f"Owls{ZERO_WIDTH}"})).json()
    assert errors(update) == {"name": [INVISIBLE]}
    category = (await boss.send_form("/admin/categories", {"name": f"Art{ZERO_WIDTH}", "description": "x"})).json()
    assert errors(category) == {"name": [INVISIBLE]}
    await boss.send_form("/admin/categories", {"name": "Art", "description": "x"})
    category = (await boss.send_form("/admin/categories", {"name": "Аrt", "description": "x"})).json()
    assert "looks the same" in errors(category)["name"][0]
