"""/api/project/<id>/snapshots/<id>/deposit: what the repository gets, going on after errors, rights, and the token."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import pytest_twisted
from support.checks.shows import shows
from support.outside.repository import TOKEN, FakeRepository
from support.servers.queue_runner import worked

from crowdd.features.people.feature import PeopleFeature

API = "/api/deposit/depositions"


@pytest.fixture
def repository() -> Iterator[FakeRepository]:
    made = FakeRepository()
    yield made
    made.close()


async def built(serve: Any, repository: FakeRepository, **dataset: Any) -> tuple[Any, Any, str, dict[str, Any]]:
    """A server that may ask the repository, an owner, the address of the deposit of a snapshot, and the snapshot."""
    served = await serve(CROWDD_OUTGOING_ALLOWED_HOSTS=repository.host)
    owner = await served.person("owner")
    project = await served.project(owner, "birds", tasks=2, published=True, n_answers=1)
    about = dataset or {"license": "CC0-1.0", "authors": [{"name": "Ada Lovelace", "orcid": "0000-0002-1825-0097"}]}
    assert (await owner.put(f"/api/project/{project['id']}", json={"info": {"dataset": about}})).status == 200
    assert (await owner.post(f"/api/project/{project['id']}/snapshots")).status == 200
    await worked(served)
    (snapshot,) = (await owner.get(f"/api/project/{project['id']}/snapshots")).json()
    return served, owner, f"/api/project/{project['id']}/snapshots/{snapshot['id']}/deposit", snapshot


async def again(served: Any) -> None:
    """The queue does at once what it would do after a pause."""
    await served.database.execute("UPDATE queue_item SET due = clock() WHERE state = 'waiting'")
    await worked(served)


@shows("project-snapshot-deposit")
@pytest_twisted.ensureDeferred
async def test_all_files_are_uploaded_and_nothing_is_published_unless_said(serve, repository):
    served, owner, at, snapshot = await built(serve, repository)
    begun = await owner.post(at, json={"url": repository.url, "token": TOKEN})
    assert begun.status == 200 and begun.json()["state"] in ("waiting", "running"), begun.text
    await worked(served)
    body = (await owner.get(at)).json()
    assert (body["state"], body["done"], body["total"], body["doi"]) == ("uploaded", body["total"], body["done"], "")
    assert body["page"] == f"{repository.url}/deposit/1" and not repository.depositions[1]["submitted"]
    page = (await owner.page(f"/project/birds/snapshots/{snapshot['hash']}")).json()
    sent = repository.files["b1"]
    assert {name: len(content) for name, content in sent.items()} == {f["name"]: f["bytes"] for f in page["files"]}
    assert json.loads(sent["manifest.json"])["hash"] == snapshot["hash"]
    metadata = repository.depositions[1]["metadata"]
    assert (metadata["upload_type"], metadata["access_right"], metadata["license"]) == ("dataset", "open", "cc-zero")
    assert metadata["creators"] == [{"name": "Ada Lovelace", "orcid": "0000-0002-1825-0097"}]
    assert metadata["related_identifiers"][0]["identifier"] == snapshot["url"]
    assert (await owner.put(at, json={"publish": True})).json()["state"] in ("waiting", "running")
    await worked(served)
    body = (await owner.get(at)).json()
    assert (body["state"], body["doi"], body["page"]) == (
        "published",
        "10.5072/zenodo.1",
        f"{repository.url}/records/1",
    )
    assert repository.made("PUT", "/api/files/.*") == len(sent), "what was there is not sent again"
    (row,) = await served.database.fetch("SELECT token_encrypted FROM deposit")
    assert row["token_encrypted"] is None
    assert (await owner.put(at, json={"publish": True})).status == 415
    assert {headers["authorization"] for headers in repository.headers} == {f"Bearer {TOKEN}"}


@pytest_twisted.ensureDeferred
async def test_it_goes_on_where_it_was_with_one_deposit(serve, repository):
    served, owner, at, _snapshot = await built(serve, repository)
    third = []

    def refuse(method: str, path: str) -> int | None:
        if path.startswith("/api/files/"):
            third.append(path)
            return 503 if len(third) == 3 else None
        return None

    repository.refuse = refuse
    await owner.post(at, json={"url": repository.url, "token": TOKEN, "publish": True})
    await worked(served)
    deposit = (await owner.get(at)).json()
    assert (deposit["state"], deposit["done"]) == ("waiting", 2) and "503" in deposit["error"]
    # As if the process had been killed before it knew what it had created.
    await served.database.execute("UPDATE deposit SET remote_id = NULL")
    await again(served)
    assert (await owner.get(at)).json()["state"] == "published"
    assert (len(repository.depositions), repository.made("POST", API)) == (1, 1)
    assert len(third) == len(repository.files["b1"]) + 1


@pytest_twisted.ensureDeferred
async def test_errors_are_sentences_and_have_no_token(serve, repository):
    served, owner, at, _snapshot = await built(serve, repository)
    for status, words, state in (
        (403, "scopes deposit:write", "failed"), (400, "Refused Bearer …", "failed"), (404, "does not have this", "failed"),
        (500, "status 500", "waiting"),
    ):  # fmt: skip
        repository.refuse = lambda method, path, status=status: status
        assert (await owner.post(at, json={"url": repository.url, "token": TOKEN})).status == 200
        await worked(served)
        response = await owner.get(at)
        assert response.json()["state"] == state and words in response.json()["error"], (status, response.text)
        assert TOKEN not in response.text
        assert (await owner.delete(at)).status == 204 and (await owner.get(at)).status == 404
    rows = await served.database.fetch(
        "SELECT (SELECT string_agg(q::text, ' ') FROM queue_item q) || (SELECT string_agg(a::text, ' ') FROM audit a) AS text"
    )
    assert TOKEN not in rows[0]["text"] and TOKEN.encode().hex() not in rows[0]["text"]


@pytest_twisted.ensureDeferred
async def test_the_token_goes_to_no_other_site(serve, repository):
    other = FakeRepository()
    try:
        served, owner, at, _snapshot = await built(serve, repository)
        repository.bucket_site = other.url
        await owner.post(at, json={"url": repository.url, "token": TOKEN})
        await worked(served)
        assert "Zenodo's API does not have" in (await owner.get(at)).json()["error"]
        assert other.requests == []
    finally:
        other.close()


@pytest_twisted.ensureDeferred
async def test_what_cannot_be_deposited_is_refused_before_it_begins(serve, repository):
    served, owner, at, _snapshot = await built(serve, repository)
    for body in (
        {"url": "http://example.org", "token": TOKEN}, {"url": "https://127.0.0.1:1", "token": TOKEN},
        {"url": f"{repository.url}?x", "token": TOKEN}, {"url": repository.url, "token": " "}, {"url": repository.url},
        {"url": repository.url, "token": TOKEN, "publish": "perhaps"}, {"url": repository.url, "token": TOKEN, "more": 1},
    ):  # fmt: skip
        assert (await owner.post(at, json=body)).status == 415, body
    await served.database.execute("UPDATE snapshot SET manifest = manifest || '{\"license\": null}'")
    assert "licence" in (await owner.post(at, json={"url": repository.url, "token": TOKEN})).text
    await served.database.execute(
        'UPDATE snapshot SET manifest = manifest || \'{"license": "CC0-1.0", "authors": []}\''
    )
    assert "author" in (await owner.post(at, json={"url": repository.url, "token": TOKEN})).text
    assert repository.requests == []


@pytest_twisted.ensureDeferred
async def test_only_owners_deposit(serve, repository):
    served, owner, at, snapshot = await built(serve, repository)
    await owner.put(at.removesuffix("/deposit"), json={"public": True})
    eve, stranger, body = await served.person("eve"), served.client(), {"url": repository.url, "token": TOKEN}
    await owner.post(at, json=body)
    assert (await owner.post(at, json=body)).status == 415
    await worked(served)
    page = f"/project/birds/snapshots/{snapshot['hash']}/deposit"
    for who, status in ((eve, 403), (stranger, 401)):
        assert (await who.get(at)).status == status
        assert (await who.post(at, json=body)).status == status
        assert (await who.put(at, json={"publish": True})).status == status
        assert (await who.delete(at)).status == status
        assert (await who.get(page)).status in (status, 302)
    assert not repository.depositions[1]["submitted"]


@pytest_twisted.ensureDeferred
async def test_nothing_that_a_repository_says_breaks_anything(serve, repository):
    served, owner, at, snapshot = await built(serve, repository)
    page = f"/project/birds/snapshots/{snapshot['hash']}/deposit"
    for odd in (
        None,
        5,
        "x",
        [],
        [5],
        {},
        {"id": None, "links": {}},
        {"id": 1, "links": 5},
        {"id": [1], "links": {"bucket": []}},
    ):
        repository.alter = lambda answer, odd=odd: odd
        assert (await owner.post(at, json={"url": repository.url, "token": TOKEN})).status == 200
        await worked(served)
        deposit = (await owner.get(at)).json()
        assert deposit["state"] == "waiting" and "Zenodo's API does not have" in deposit["error"], odd
        assert (await owner.delete(at)).status == 204
    hostile = ("javascript:alert(1)", f"{repository.url}/\x00", f"{repository.url}/{'x' * 2000}", "http://[", 5)
    for link in hostile:
        repository.alter = lambda answer, link=link: twisted(answer, link)
        assert (await owner.post(at, json={"url": repository.url, "token": TOKEN, "publish": True})).status == 200
        await worked(served)
        deposit = (await owner.get(at)).json()
        assert (deposit["state"], deposit["page"]) == ("published", repository.url), (link, deposit)
        assert "\x00" not in deposit["doi"] and len(deposit["doi"]) <= 200
        shown = await owner.get(page)
        assert shown.status == 200 and "javascript:" not in shown.text
        assert (await owner.delete(at)).status == 204
    repository.alter = lambda answer: answer
    repository.refuse = lambda method, path: 400
    for errors in (5, [5], {"field": "x"}):
        repository.alter = lambda answer, errors=errors: {"message": ["\x00"], "errors": errors}
        assert (await owner.post(at, json={"url": repository.url, "token": TOKEN})).status == 200
        await worked(served)
        assert (await owner.get(at)).json()["state"] == "failed"
        assert (await owner.delete(at)).status == 204


def twisted(answer: Any, link: object) -> Any:
    """An answer of the repository with a link for people that it should not have, and other oddities."""
    if not isinstance(answer, dict) or "links" not in answer:
        return answer
    links = {**answer["links"], "html": link, "record_html": link}
    return {
        **answer,
        "links": links,
        "files": 5,
        "doi": "10.1\x00/" + "x" * 1000,
        "metadata": {"related_identifiers": 5},
    }


@pytest_twisted.ensureDeferred
async def test_the_token_of_a_deleted_account_is_forgotten(serve, repository):
    served, owner, at, _snapshot = await built(serve, repository)
    eve = await served.person("eve")
    assert (await owner.post(at, json={"url": repository.url, "token": TOKEN})).status == 200
    await served.database.execute("UPDATE deposit SET user_id = %(eve)s", {"eve": eve.user_id})

    async def quiet(done: int) -> None:
        """Nobody is told."""

    await served.house[PeopleFeature].account_deletion.carry_out(eve.user_id, quiet)
    (row,) = await served.database.fetch("SELECT user_id, token_encrypted FROM deposit")
    assert row == {"user_id": None, "token_encrypted": None}
    await worked(served)
    assert "no longer stored" in (await owner.get(at)).json()["error"]


@shows("page-snapshot-deposit")
@pytest_twisted.ensureDeferred
async def test_an_owner_deposits_on_the_page(serve, repository):
    served, owner, _at, snapshot = await built(serve, repository)
    page = f"/project/birds/snapshots/{snapshot['hash']}/deposit"
    assert (await owner.page(page)).json()["deposit"] is None
    wrong = await owner.send_form(page, {"url": repository.url, "token": ""})
    assert wrong.json()["status"] == "error"
    for url in ("http://[", "'><script>" * 40, "https://127.0.0.1:1", "javascript:alert(1)"):
        refused = await owner.send_form(page, {"url": url, "token": TOKEN, "publish": "<script>"})
        assert refused.json()["status"] == "error", (url, refused.text)
    sent = await owner.send_form(page, {"url": repository.url, "token": TOKEN})
    assert sent.json()["status"] == "success", sent.text
    await worked(served)
    deposit = (await owner.page(page)).json()["deposit"]
    assert (deposit["state"], deposit["publish"]) == ("uploaded", False)
    assert (await owner.send_form(f"{page}/continue", {"publish": "1"}, page)).json()["status"] == "success"
    await worked(served)
    shown = await owner.page(page)
    assert shown.json()["deposit"]["doi"] == "10.5072/zenodo.1" and TOKEN not in shown.text
    assert (await owner.send_form(f"{page}/delete", {}, page)).json()["status"] == "success"
    assert (await owner.page(page)).json()["deposit"] is None
    box = {"url": repository.url, "token": TOKEN, "publish": "y"}
    assert (await owner.send_form(page, box)).json()["status"] == "success"
    assert (await owner.page(page)).json()["deposit"]["publish"] is True
