"""A change of what pages show: who makes it sees it at once; visitors see at once what they may see, and figures a second later.

The cache's second goes by when the test says so. Changes come by the API, by pages, from the command line, and past this
process, as those of another one do.
"""

from __future__ import annotations

import io
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
import pytest_twisted
from PIL import Image
from support.checks.shows import shows
from support.servers.forks import Warm
from support.servers.live import BIN
from support.until import until
from support.visitors import HTML, VisitedSite, without_own
from twisted.internet.threads import deferToThread

pytestmark = pytest.mark.inside

PROJECT, HOME, SUBJECT = "/project/{p}/", "/", "/project/category/{c}/"
BOARD, PERSON, STATS, OWNED = "/leaderboard/", "/account/{a}/", "/project/{p}/stats", "/account/owner/"
Step = Callable[[VisitedSite], Awaitable[Any]]


@pytest.fixture(scope="module")
def command() -> Iterator[Callable[..., Any]]:
    """Runs ``crowdctl`` in a process of its own, on the data of a server."""
    folder = Path(tempfile.mkdtemp(prefix="crowdd-cache-", dir="/tmp"))
    warm = Warm(folder)

    async def run(site: VisitedSite, *words: str) -> None:
        settings = site.served.house.base.settings
        environment = {"CROWDD_DB_DSN": settings.db.dsn, "CROWDD_DATA_DIR": str(settings.data.dir), "HOME": str(folder)}
        argv = [str(BIN / "crowdctl"), *words]
        ended = await deferToThread(warm.run, argv, environment, str(folder), "")
        assert ended.status == 0, ended

    yield run
    warm.end()
    shutil.rmtree(folder, ignore_errors=True)


@attrs.frozen
class Change:
    """``doer`` makes it. Each of ``paths`` shows ``old`` before it, and ``new`` instead after it, or is gone without a new one."""

    step: Step
    doer: str
    paths: tuple[str, ...]
    old: str = ""
    new: str = ""
    status: int = 200  # of the first path after it
    before: Step | None = None


def named(site: VisitedSite, path: str) -> str:
    """An address with short names and ids."""
    ids = {"project": site.project["id"], "category": site.project["category_id"], "ada": site.ada.user_id}
    return path.format(p=site.short_name, a=site.person, c=site.subject, **ids)


def api(path: str, who: str = "owner", method: str = "PUT", **body: Any) -> Step:
    """A request with an API key. ``path`` may name the project's id, and that of its category and of ada."""

    async def step(site: VisitedSite) -> None:
        answer = await getattr(site, who).request(method, named(site, path), json=body)
        assert answer.status in (200, 204), answer.body

    return step


def form(path: str, who: str, token_from: str = "", **fields: Any) -> Step:
    """A form in a browser."""

    async def step(site: VisitedSite) -> None:
        browser = await site.browser(who)
        url = named(site, path)
        page = (await browser.page(named(site, token_from) or url)).json()
        shown = page.get("form", {})
        defaults = (
            {name: value for name, value in shown.items() if name not in ("csrf", "errors")} if not token_from else {}
        )
        token = page.get("csrf") or shown["csrf"]
        answer = await browser.post(url, json={**defaults, **fields}, headers={"X-CSRFToken": token})
        assert answer.status == 200 and answer.json()["status"] == "success", answer.body

    return step


def past(sql: str) -> Step:
    """A statement of another process."""
    return lambda site: site.sql(sql, project=site.project["id"], ada=site.ada.user_id)


async def picture(site: VisitedSite) -> None:
    """A new picture of ada."""
    file = io.BytesIO()
    Image.new("RGB", (120, 120), "red").save(file, "PNG")
    browser = await site.browser("ada")
    token = (await browser.page(site.at("/account/{a}/update"))).json()["upload_form"]["csrf"]
    answer = await browser.post(
        site.at("/account/{a}/update") + "?response_format=json", data={"btn": "Upload"},
        files={"avatar": ("a.png", io.BytesIO(file.getvalue()))}, headers={"X-CSRFToken": token},
    )  # fmt: skip
    assert answer.json()["status"] == "success", answer.body


PAUSE = form("/project/{p}/pause", "owner", token_from="/project/{p}/publish")
SHOW = past("UPDATE account SET privacy_mode = false WHERE id = %(ada)s RETURNING 1")
LOCK = past("UPDATE project SET passwd_hash = 'x', lock_id = 'x' WHERE id = %(project)s RETURNING 1")
CHANGES = {
    "title, API": Change(api("/api/project/{project}", name="Feathers"), "owner", (PROJECT, HOME, STATS, SUBJECT), "{word}", "Feathers"),
    "title, page": Change(form("/project/{p}/update", "owner", name="Feathers"), "owner", (PROJECT, HOME, STATS, SUBJECT), "{word}", "Feathers"),
    "title, other process": Change(
        past("UPDATE project SET name = 'Feathers' WHERE id = %(project)s RETURNING 1"), "owner", (PROJECT, HOME, SUBJECT), "{word}", "Feathers"
    ),
    "description, API": Change(api("/api/project/{project}", description="How many?"), "owner", (PROJECT, HOME), "Is there a bird?", "How many?"),
    "language, API": Change(
        api("/api/project/{project}", info={"task_presenter": "<p>?</p>", "language": "de"}), "owner", (PROJECT,), "", '<h1 lang="de"'
    ),
    "pause, page": Change(PAUSE, "owner", (PROJECT,), "", "This project is paused."),
    "pause, page, lists": Change(PAUSE, "visitor", (HOME, SUBJECT, OWNED), "/project/{p}/"),
    "publish, page": Change(form("/project/{p}/publish", "owner"), "owner", (PROJECT,), "This project is paused.", before=PAUSE),
    "lock, page": Change(
        form("/project/{p}/update", "owner", btn="Password", password="sesame", protect=True), "visitor", (PROJECT, STATS), "{word}", status=302
    ),
    "lock, other process": Change(LOCK, "visitor", (PROJECT, STATS, "/project/{p}/tasks/"), "{word}", status=302),
    "lock, lists": Change(LOCK, "visitor", (HOME, SUBJECT, OWNED), "/project/{p}/"),
    "delete, API": Change(api("/api/project/{project}", method="DELETE"), "owner", (PROJECT, STATS), "{word}", status=404),
    "delete, page": Change(form("/project/{p}/delete", "owner"), "owner", (PROJECT, STATS), "{word}", status=404),
    "delete, lists": Change(api("/api/project/{project}", method="DELETE"), "owner", (HOME, SUBJECT, OWNED), "/project/{p}/"),
    "block, page": Change(form("/admin/users/block/{ada}", "admin", token_from="/admin/users"), "admin", (BOARD, HOME), "/account/{a}/"),
    "block, other process": Change(past('UPDATE account SET "restrict" = true WHERE id = %(ada)s RETURNING 1'), "admin", (BOARD, HOME), "/account/{a}/"),
    "name, API": Change(api("/api/user/{ada}", "ada", fullname="Countess"), "ada", (PERSON, BOARD), "{face}<", "Countess", before=SHOW),
    "name hidden, API": Change(api("/api/user/{ada}", "ada", privacy_mode=True), "visitor", (PERSON, BOARD), "{face}<", before=SHOW),
    "category, API": Change(api("/api/category/{category}", "admin", name="Wondering"), "admin", (HOME, SUBJECT), "{topic}", "Wondering"),
    "category, page": Change(
        form("/admin/categories/update/{category}", "admin", name="Wondering"), "admin", (HOME, SUBJECT), "{topic}", "Wondering"
    ),
    "featured, other process": Change(
        past("UPDATE project SET featured = true WHERE id = %(project)s RETURNING 1"), "owner", ("/project/category/featured/",), "", "{word}"
    ),
    "avatar, page": Change(picture, "ada", (PERSON,), "", "/uploads/", before=SHOW),
    "owner, other process": Change(
        past("UPDATE project SET owner_id = %(ada)s, owners_ids = ARRAY[%(ada)s] WHERE id = %(project)s RETURNING 1"), "visitor", (OWNED,), "/project/{p}/"
    ),
    "blog post, API": Change(
        lambda site: api("/api/blogpost", method="POST", project_id=site.project["id"], title="News", body="Much.", published=True)(site),
        "owner", (PROJECT,), "", "News",
    ),
}  # fmt: skip


@shows("format-fresh")
@pytest.mark.parametrize("name", CHANGES)
@pytest_twisted.ensureDeferred
async def test_everybody_sees_with_the_next_request_what_visitors_may_see(site, name):
    await check(site, CHANGES[name])


@pytest.mark.parametrize(
    ("words", "change"),
    [
        (("project", "pause", "{p}"), Change(PAUSE, "owner", (PROJECT,), "", "This project is paused.")),
        (("project", "delete", "{p}", "--yes"), Change(PAUSE, "owner", (PROJECT, STATS), "{word}", status=404)),
        (("user", "block", "{a}"), Change(PAUSE, "admin", (BOARD, HOME), "/account/{a}/")),
        (("category", "edit", "{c}", "--name", "Wondering"), Change(PAUSE, "admin", (HOME, SUBJECT), "{topic}", "Wondering")),
        (("project", "transfer", "{p}", "--to", "{a}", "--yes"), Change(PAUSE, "visitor", (OWNED,), "/project/{p}/")),
    ],
    ids=lambda argument: " ".join(argument[:2]) if isinstance(argument, tuple) else "",
)  # fmt: skip
@pytest_twisted.ensureDeferred
async def test_what_the_command_line_changes_is_seen_with_the_next_request(site, command, words, change):
    await check(site, attrs.evolve(change, step=lambda site: command(site, *[site.at(word) for word in words])))


async def check(site: VisitedSite, change: Change) -> None:
    """Changes something while the pages of visitors are in the cache, and the doer has seen them."""
    if change.before is not None:
        await change.before(site)
    doer = site.visitor() if change.doer == "visitor" else await site.browser(change.doer)
    words = {"word": site.word, "face": site.face, "topic": site.topic, "p": site.short_name, "a": site.person}
    old, new = change.old.format(**words), change.new.format(**words)
    for path in change.paths:
        for shown in ((await site.cached(path)).text, (await doer.get(site.at(path), headers=HTML)).text):
            assert old in shown and (not new or new not in shown), path
    await change.step(site)
    for path in change.paths:
        for page in (await doer.get(site.at(path), headers=HTML), await site.seen(path), await site.seen(path)):
            assert page.status == change.status, path
            assert new in page.text, path
            assert not old or old not in page.text, path


# Figures


async def _finish(site: VisitedSite) -> None:
    bob = await site.served.person(f"bob{site.number}")
    for _ in range(2):
        await site.answer(bob)


FIGURES = ("/", PROJECT, STATS, "/stats/", BOARD, SUBJECT, "/project/{p}/tasks/", PERSON)


@pytest_twisted.ensureDeferred
async def test_who_answers_sees_it_at_once_and_visitors_a_second_later(site):
    browser = await site.browser("ada")
    before = {path: await site.cached(path) for path in FIGURES}
    mine = {path: without_own((await browser.get(site.at(path), headers=HTML)).text) for path in FIGURES}
    version = await site.version()
    await _finish(site)
    await site.answer(site.ada)
    for path in FIGURES:
        assert without_own((await browser.get(site.at(path), headers=HTML)).text) != mine[path], path
    site.clock.advance(0.799)
    for path in FIGURES:
        assert (await site.seen(path)).body == before[path].body, "a page is a second old at most"
    site.clock.advance(0.201)
    for path in FIGURES:
        assert (await site.cached(path)).body != before[path].body, path
    assert await site.version() == version


@pytest_twisted.ensureDeferred
async def test_an_announcement_is_seen_with_the_next_request(site):
    assert "Great news" not in (await site.seen("/announcements/")).text
    made = (
        await site.admin.post("/api/announcement", json={"title": "Great news", "body": "!", "published": True})
    ).json()
    assert "Great news" in (await site.seen("/announcements/")).text
    assert (await site.admin.put(f"/api/announcement/{made['id']}", json={"published": False})).status == 200
    assert "Great news" not in (await site.seen("/announcements/")).text


@pytest_twisted.ensureDeferred
async def test_the_name_of_the_site_is_seen_when_the_process_knows_it(site):
    await site.cached("/")
    browser = await site.browser("admin")
    token = (await browser.page("/admin/site/look")).json()["form"]["csrf"]
    sent = {"csrf_token": token, "name": "Lake Watch"}
    await browser.post("/admin/site/look?response_format=json", data=sent)
    await until(lambda: site.served.house.base.site.name() == "Lake Watch", 10)
    for page in (await browser.get("/", headers=HTML), await site.seen("/"), await site.seen("/account/signin")):
        assert "Lake Watch" in page.text


@pytest_twisted.ensureDeferred
async def test_what_was_made_before_a_lock_is_not_shown_when_the_lock_is_gone(site):
    first = (await site.cached("/project/{p}/")).header("etag")
    for _ in range(2):
        await LOCK(site)
        assert (await site.seen("/project/{p}/", **{"If-None-Match": first})).status == 302
        await site.sql(
            "UPDATE project SET passwd_hash = NULL, lock_id = NULL WHERE id = %(p)s RETURNING 1", p=site.project["id"]
        )
        made = site.made
        assert (await site.seen("/project/{p}/")).status == 200 and site.made == made + 1
