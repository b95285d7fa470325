"""Invitations by e-mail: what they say and to whom, how many leave in an hour, and what is written down."""

from __future__ import annotations

import re
from typing import Any

import pytest_twisted
from support.browsers import registration, signed_in
from support.checks.shows import shows
from twisted.internet.defer import ensureDeferred, gatherResults

from crowdd.features.accounts.invitations import MAX_MAILED

HERE = "/admin/site/invitations"
ON = {"CROWDD_MAIL_HOST": "127.0.0.1", "CROWDD_MAIL_SENDER": "crowdd@example.org"}
WRITTEN = """INSERT INTO mail (created, due, recipient, template, locale, subject, text, html, state)
    SELECT clock(), clock(), n || '@example.org', 'invitation', 'en', 'x', 'x', 'x', 'sent' FROM generate_series(1, %(many)s) n"""


async def closed(served: Any) -> Any:
    """An administrator on a site that is open by invitation only."""
    await served.person("boss", admin=True)
    boss = await signed_in(served, "boss")
    await boss.send_form("/admin/site/rules", {"signup": "invitation"})
    return boss


async def invite(boss: Any, email: str = "ada@example.org", **form: Any) -> Any:
    return (await boss.send_form(HERE, {"note": "", "days": 3, "email": email, **form})).json()


async def letters(served: Any) -> list[Any]:
    return await served.database.fetch("SELECT recipient, locale, subject, text FROM mail ORDER BY id")


@shows("admin-invitations-mail")
@pytest_twisted.ensureDeferred
async def test_the_link_goes_to_the_address_only_and_works(serve):
    served = await serve(**ON)
    boss = await closed(served)
    made = await invite(boss, note="<b>Buy now</b> https://evil.example", language="de")
    assert (made["status"], made["link"]) == ("success", None) and "ada@example.org" in made["flash"]
    (letter,) = await letters(served)
    assert (letter["recipient"], letter["locale"]) == ("ada@example.org", "de") and "evil" not in str(letter)
    assert "Einladung" in letter["subject"]
    link = re.search(r"/account/register\?invitation=\S+", letter["text"])[0]
    key = link.partition("=")[2]
    (entry,) = await served.database.fetch("SELECT after FROM audit WHERE kind = 'invitation'")
    assert entry["after"]["mailed"] is True and key not in str(entry) and "ada@" not in str(entry)
    joined = await served.client().send_form(link, registration("ada"), "/account/register")
    assert joined.json()["status"] == "sent"  # a letter asks for a confirmation, as mail is on


@shows("admin-invitations-mail")
@pytest_twisted.ensureDeferred
async def test_an_address_that_cannot_be_written_to_is_refused_and_nothing_is_made(serve):
    served = await serve(**ON)
    boss = await closed(served)
    for wrong in (
        "ada",
        "ada@",
        "a b@example.org",
        "ada@example.org\nBcc: eve@example.org",
        "x" * 300 + "@example.org",
    ):
        assert "email" in (await invite(boss, wrong))["form"]["errors"], wrong
    assert "language" in (await invite(boss, language="xx"))["form"]["errors"]
    assert await letters(served) == []
    page = (await boss.page(HERE)).json()
    assert page["invitations"] == []
    await invite(boss)
    assert [one["note"] for one in (await boss.page(HERE)).json()["invitations"]] == ["ada@example.org"]


@shows("admin-invitations-mail")
@pytest_twisted.ensureDeferred
async def test_of_two_at_once_the_last_of_the_hour_leaves_once(serve):
    served = await serve(**ON)
    boss = await closed(served)
    await served.database.execute(WRITTEN, {"many": MAX_MAILED - 1})
    token = (await boss.page(HERE)).json()["form"]["csrf"]
    posts = [
        boss.post(HERE, json={"email": f"{name}@example.org", "days": 3}, headers={"X-CSRFToken": token})
        for name in ("ada", "grace")
    ]
    responses = [answer.json() for answer in await gatherResults([ensureDeferred(post) for post in posts])]
    assert sorted(one["status"] for one in responses) == ["error", "success"]
    assert len(await letters(served)) == MAX_MAILED and len((await boss.page(HERE)).json()["invitations"]) == 1
    assert (await invite(boss, ""))["link"] is not None  # a link on the page has no limit
    await served.database.execute("UPDATE clock_shift SET ahead = '61 minutes'")
    boss = await signed_in(served, "boss")
    assert (await invite(boss))["status"] == "success"


@pytest_twisted.ensureDeferred
async def test_while_mail_is_off_the_link_is_shown(served):
    boss = await closed(served)
    made = await invite(boss)
    assert made["status"] == "warning" and "switched off" in made["flash"] and "invitation=" in made["link"]
