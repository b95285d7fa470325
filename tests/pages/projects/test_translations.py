"""Translations of a project: who may write them, what the API and the pages do, and what volunteers see."""

from __future__ import annotations

import re
from typing import Any

import attrs
import pytest
import pytest_twisted
from support.browsers import lock, newcomer
from support.checks.shows import shows
from support.questions.guide_documents import field_guide, tutorial
from support.servers.served import Served
from twisted.internet.defer import ensureDeferred, gatherResults

from crowdd.features.translations import folder_translations
from crowdd.kernel.errors import InvalidValueError

HTML = {"Accept": "text/html"}
GERMAN, FRENCH = HTML | {"Accept-Language": "de"}, HTML | {"Accept-Language": "fr"}
FRAME = {"Sec-Fetch-Dest": "iframe"}
ANIMAL = {
    "name": "animal",
    "type": "single_choice",
    "text": "Which animal?",
    "choices": [{"value": "duck", "text": "Duck"}, {"value": "coot", "text": "Coot"}],
}
QUESTIONS = {"version": 1, "steps": [{"name": "look", "questions": [ANIMAL]}]}


@attrs.define
class Site:
    """Ada's project about a pond, in English, and Tom, who translates it."""

    served: Served
    ada: Any
    tom: Any
    project_id: int

    @classmethod
    async def of(cls, served: Served, *, published: bool = True, **info: Any) -> Site:
        ada, tom = await served.person("ada"), await served.person("tom")
        project = await served.project(ada, "pond", tasks=2, published=published)
        site = cls(served, ada, tom, project["id"])
        await site.tell(questions=QUESTIONS, **info)
        assert (await ada.post("/project/pond/translators", json={"user": "tom"})).status == 200
        return site

    async def tell(self, **info: Any) -> None:
        body = {"long_description": "Count *animals*.", "info": {"language": "en", **info}}
        answer = await self.ada.put(f"/api/project/{self.project_id}", json=body)
        assert answer.status == 200, answer.body

    @property
    def at(self) -> str:
        return f"/api/project/{self.project_id}/translations"

    async def put(self, who: Any, language: str = "de", /, **words: str) -> Any:
        strings = [{"key": key.replace("__", "/"), "text": text} for key, text in words.items()]
        return await who.put(f"{self.at}/{language}", json={"strings": strings})

    async def seen(self, path: str, headers: dict[str, str] = GERMAN) -> str:
        """What a visitor sees."""
        return str((await self.served.client().get(f"/project/pond/{path}", headers=headers)).text)

    async def string(self, key: str) -> Any:
        strings = (await self.tom.get(f"{self.at}/de")).json()["strings"]
        return next(each for each in strings if each["key"] == key)


@shows("project-translations")
@pytest_twisted.ensureDeferred
async def test_a_language_goes_out_as_a_file_and_comes_back(served: Served) -> None:
    site = await Site.of(served)
    listed = (await site.tom.get(site.at)).json()
    assert [each["language"] for each in listed] == ["es", "fr", "de", "ar"], "not English, which it is in"
    assert listed[2] == {"language": "de", "version": 0, "missing": 6, "outdated": 0, "translated": 0}
    file = (await site.tom.get(f"{site.at}/de")).json()
    assert (file["source_language"], file["version"]) == ("en", 0)
    assert [each["key"] for each in file["strings"]] == [
        "project/name",
        "project/description",
        "project/long_description",
        "questions/animal/text",
        "questions/animal/choices/duck/text",
        "questions/animal/choices/coot/text",
    ]
    words = ["Teich", "Gibt es einen Vogel?", "Zähle *Tiere*.", "Welches Tier?", "Ente", "Blässhuhn"]
    for string, text in zip(file["strings"], words, strict=True):
        string["text"] = text
    back = await site.tom.put(f"{site.at}/de", json=file)
    assert back.status == 200, back.body
    assert back.json()["version"] == 1 and back.json()["unknown"] == []
    assert {each["state"] for each in back.json()["strings"]} == {"translated"}
    late = await site.tom.put(f"{site.at}/de", json=file)
    assert (late.status, late.json()["error_code"]) == (415, "changed_meanwhile"), "it is at version 1 by now"
    assert (await site.tom.put(f"{site.at}/de", json=file | {"version": None})).json()["version"] == 1, "it is the same"
    assert (await site.put(site.tom, questions__gone__text="Weg")).json()["unknown"] == ["questions/gone/text"]
    assert (await site.put(site.tom, questions__animal__text="")).status == 200
    assert (await site.string("questions/animal/text"))["state"] == "missing"
    assert (await site.ada.delete(f"{site.at}/de")).status == 204
    assert (await site.string("project/name"))["text"] == ""


@shows("project-translations")
@pytest_twisted.ensureDeferred
async def test_only_owners_and_translators_read_and_write_them(served: Served) -> None:
    site = await Site.of(served, published=False)
    eve, nobody = await served.person("eve"), served.client()
    for path in ("", "/de"):
        assert (await eve.get(site.at + path)).status == 404, "a draft is told to nobody"
        assert (await nobody.get(site.at + path)).status == 404
    assert (await site.put(eve, project__name="Nein")).status == 404
    assert (await site.put(nobody, project__name="Nein")).status == 401
    assert (await site.put(site.tom, project__name="Teich")).status == 200
    assert (await site.put(site.ada, project__name="Weiher")).status == 200
    assert (await site.tom.delete(f"{site.at}/de")).status == 403, "translators delete no language"
    assert (await site.tom.put(f"/api/project/{site.project_id}", json={"description": "Mine"})).status == 403
    for path in ("settings", "translators", "update", "tasks/taskpresentereditor"):
        assert (await site.tom.get(f"/project/pond/{path}", headers=HTML)).status in (302, 303, 403), path
    assert (await site.ada.post("/project/pond/publish", json={})).status == 200
    assert (await site.put(eve, project__name="Nein")).status == 403
    assert (await eve.get(f"{site.at}/de")).status == 403
    assert (await site.ada.post("/project/pond/translators/tom/remove", json={})).status == 200
    assert (await site.put(site.tom, project__name="Nein")).status == 403
    assert (await site.ada.get(f"{site.at}/de")).json()["strings"][0]["text"] == "Weiher"


@shows("project-translations")
@pytest_twisted.ensureDeferred
async def test_what_cannot_be_a_translation_is_refused_as_a_whole(served: Served) -> None:
    site = await Site.of(served)
    await served.project(site.ada, "lake")
    for language in ("en", "it", "DE", "x"):
        refused = await site.put(site.tom, language, project__name="Pond")
        assert (refused.status, refused.json()["error_code"]) == (415, "no_such_language"), language
    for name in ("Lake", "lake", "L\u0430ke", "two\nlines", "x" * 256):
        refused = await site.put(site.tom, project__description="Gut", project__name=name)
        assert refused.status == 415 and "project/name" in refused.text, name
    refused = await site.put(site.tom, questions__animal__text="x" * 2001)
    assert "at most 2000 characters" in refused.text.replace(",", "")
    assert (await site.string("project/description"))["text"] == "", "nothing of it was stored"
    other = await site.tom.put(f"{site.at}/de", json={"language": "fr", "strings": []})
    assert (other.status, other.json()["error_code"]) == (415, "another_language")
    assert (await site.tom.put(f"{site.at}/de", json={"strings": [{"key": "a"}]})).status == 415
    await site.tell(questions=QUESTIONS, language=None)
    assert (await site.tom.get(site.at)).json() == []
    assert (await site.put(site.tom, project__name="Teich")).json()["error_code"] == "no_source_language"


@shows("project-translations")
@pytest_twisted.ensureDeferred
async def test_a_language_has_a_limit_of_bytes(served: Served) -> None:
    entries = [{"name": f"entry_{nth}", "title": "T", "text": "A"} for nth in range(110)]
    site = await Site.of(served, field_guide={"version": 1, "entries": entries})
    keys = [f"field_guide__entries__entry_{nth}__text" for nth in range(110)]
    refused = await site.put(site.tom, **dict.fromkeys(keys, "x" * 10_000))
    assert refused.status == 413, refused.body
    assert (await site.put(site.tom, **dict.fromkeys(keys[:90], "x" * 10_000))).status == 200


@shows("project-translations")
@pytest_twisted.ensureDeferred
async def test_two_translators_at_once_lose_nothing(served: Served) -> None:
    site = await Site.of(served)
    words = [
        ("project__name", "Teich"),
        ("questions__animal__text", "Welches Tier?"),
        ("project__description", "Vögel"),
    ]
    both = [
        ensureDeferred(site.put((site.tom, site.ada)[nth % 2], **{key: text})) for nth, (key, text) in enumerate(words)
    ]
    assert {answer.status for answer in await gatherResults(both)} == {200}
    strings = {each["key"]: each["text"] for each in (await site.tom.get(f"{site.at}/de")).json()["strings"]}
    assert all(strings[key.replace("__", "/")] == text for key, text in words)


@shows("page-translations")
@pytest_twisted.ensureDeferred
async def test_visitors_see_their_language_and_the_original_where_there_is_none(served: Served) -> None:
    site = await Site.of(served, field_guide=field_guide(), guided_tutorial=tutorial())
    assert "<h1" in await site.seen("") and "Teich" not in await site.seen("")
    entry, step = field_guide()["entries"][0]["name"], tutorial()["steps"][0]["name"]
    words = {
        "project__name": "Teich",
        "project__long_description": "Zähle *Tiere*.",
        "questions__animal__text": "Welches Tier?",
        "questions__animal__choices__duck__text": "Ente",
        f"field_guide__entries__{entry}__title": "Die Stockente",
        f"guided_tutorial__steps__{step}__title": "Willkommen am Teich",
    }
    assert (await site.put(site.tom, **words)).status == 200
    page = await site.seen("")
    assert '<h1 lang="de" dir="ltr">Teich</h1>' in page, "a page that was kept for visitors is made again"
    assert "Zähle <em>Tiere</em>" in page and '<p class="lead" lang="en" dir="ltr">Is there a bird?</p>' in page
    assert '<h1 lang="en" dir="ltr">Pond</h1>' in await site.seen("", FRENCH)
    await site.tell(questions=QUESTIONS, field_guide=field_guide(), guided_tutorial=tutorial())
    task = await site.seen("newtask")
    assert "Welches Tier?" in task and "Ente" in task and '<p lang="en" dir="ltr">Coot</p>' in task
    frame = await site.seen("newtask?_presenter=1", GERMAN | FRAME)
    assert '"text":{"en":"Which animal?","de":"Welches Tier?"}' in frame and '"value":"duck"' in frame
    assert "Welches Tier?" not in await site.seen("newtask?_presenter=1", FRENCH | FRAME)
    assert "Willkommen am Teich" in await site.seen("tutorial?_presenter=1", GERMAN | FRAME)
    assert "Die Stockente" in await site.seen("fieldguide") and "Die Stockente" not in await site.seen(
        "fieldguide", FRENCH
    )
    program = (
        await served.client().get("/project/pond/", headers={"Accept": "application/json", "Accept-Language": "de"})
    ).json()
    assert program["project"]["name"] == "Pond", "programs get what is stored"


@shows("page-translations")
@pytest_twisted.ensureDeferred
async def test_an_outdated_translation_is_marked_and_not_shown(served: Served) -> None:
    site = await Site.of(served)
    assert (await site.put(site.tom, questions__animal__text="Welches Tier?")).status == 200
    changed = {"version": 1, "steps": [{"name": "look", "questions": [ANIMAL | {"text": "Which animal is missing?"}]}]}
    await site.tell(questions=changed)
    assert (await site.string("questions/animal/text"))["state"] == "outdated"
    frame = await site.seen("newtask?_presenter=1", GERMAN | FRAME)
    assert "Which animal is missing?" in frame and "Welches Tier?" not in frame
    old = (await site.tom.put(f"{site.at}/de", json={"strings": [
        {"key": "questions/animal/text", "text": "Welches Tier fehlt?", "digest": "0123456789abcdef"}
    ]})).json()  # fmt: skip
    assert next(each for each in old["strings"] if each["key"] == "questions/animal/text")["state"] == "outdated"
    await site.tell(questions=QUESTIONS)
    assert "Welches Tier" not in await site.seen("newtask?_presenter=1", GERMAN | FRAME)


@shows("page-translations")
@pytest_twisted.ensureDeferred
async def test_drafts_paused_and_locked_projects_show_translations_to_nobody_else(served: Served) -> None:
    site = await Site.of(served, published=False)
    assert (await site.put(site.tom, project__name="Teich")).status == 200
    assert (
        "Teich" not in await site.seen("")
        and (await served.client().get("/project/pond/", headers=GERMAN)).status == 404
    )
    assert (await site.tom.get("/project/pond/", headers=HTML)).status == 200, "a translator sees the draft"
    assert (await site.ada.post("/project/pond/publish", json={})).status == 200
    assert "Teich" in await site.seen("")
    await lock(served, "pond", site.ada, "sesame")
    for path in ("", "newtask", "newtask?_presenter=1", "fieldguide", "embed"):
        assert "Teich" not in await site.seen(path), path
    assert (await served.client().get(f"{site.at}/de")).status in (401, 403)
    assert (await site.tom.get("/project/pond/", headers=HTML)).status == 200


def fields(page: str) -> list[dict[str, str]]:
    """What the form of a page has of each text."""
    names = re.findall(r'name="key-(\w+)"', page)
    pattern = r'name="{}-{}"[^>]*value="([^"]*)"'
    return [
        {"name": name, **{each: re.findall(pattern.format(each, name), page)[0] for each in ("key", "digest", "seen")}}
        for name in names
    ]


async def send(browser: Any, language: str, sent: list[dict[str, str]]) -> Any:
    path = f"/project/pond/languages/{language}"
    form = {f"{name}-{each['name']}": text for each in sent for name, text in each.items() if name != "name"}
    return await browser.send_form(path, form)


@shows("page-translations")
@pytest_twisted.ensureDeferred
async def test_the_page_stores_what_was_changed_and_tells_of_others(served: Served) -> None:
    site = await Site.of(served)
    browser, at = await newcomer(served, "uma"), "/project/pond/languages/de"
    invited = (await site.ada.post("/project/pond/translators/invite", json={})).json()["invitation_url"]
    key = invited.partition("?")[2]
    assert (await browser.get("/project/pond/languages", headers=HTML)).status == 403
    assert "translate this project" in (await browser.get(f"/project/pond/invitation?{key}", headers=HTML)).text
    joined = await browser.send_form(f"/project/pond/invitation?{key}", {})
    assert joined.json()["next"] == "/project/pond/languages", joined.body
    listed = (await browser.get("/project/pond/languages", headers=HTML)).text
    assert "Deutsch" in listed and "0 of 6 texts are translated" in listed and "/project/pond/settings" not in listed

    page = (await browser.get("/project/pond/languages/de", headers=HTML)).text
    assert 'dir="rtl"' in (await browser.get("/project/pond/languages/ar", headers=HTML)).text
    sent = [each | {"text": ""} for each in fields(page)]
    assert [each["key"] for each in sent][:2] == ["project/name", "project/description"]
    sent[0]["text"], sent[3]["text"] = "Teich", "Welches Tier?\r\nGenau?"
    saved = (await send(browser, "de", sent)).json()
    assert saved["flash"] == "Saved. 4 texts are left." and saved["next"] == "/project/pond/languages/de"
    assert (await site.string("questions/animal/text"))["text"] == "Welches Tier?\nGenau?"

    # Somebody else was faster: what both wrote is shown, and the second press decides.
    sent[0]["text"] = "Weiher"
    refused = (await send(browser, "de", sent[:1])).json()
    assert refused["status"] == "error" and (await site.string("project/name"))["text"] == "Teich"
    assert [each["key"] for each in refused["strings"]] == ["project/name"]

    # A text that cannot be stored is said at its field, and the others are not lost.
    page = (await browser.get("/project/pond/languages/de", headers=HTML)).text
    sent = [each | {"text": ""} for each in fields(page)][:2]
    sent[0]["text"], sent[1]["text"] = "Birds\nBees", "Vögel"
    assert (await send(browser, "de", sent)).json()["status"] == "error"
    assert (await site.string("project/description"))["text"] == ""

    # The source changes: the old translation fits, says the translator.
    changed = {"version": 1, "steps": [{"name": "look", "questions": [ANIMAL | {"text": "Which animal is it?"}]}]}
    await site.tell(questions=changed)
    page = (await browser.get("/project/pond/languages/de?show=outdated", headers=HTML)).text
    (only,) = fields(page)
    text = (await site.string("questions/animal/text"))["text"]
    assert (await send(browser, "de", [only | {"text": text, "fits": "y"}])).json()["status"] == "success"
    assert (await site.string("questions/animal/text"))["state"] == "translated"
    assert (await browser.get("/project/pond/languages/xx", headers=HTML)).status == 404
    assert (await browser.send_form("/project/pond/languages/de/delete", {}, at)).status == 403


@shows("project-translations")
@pytest_twisted.ensureDeferred
async def test_they_go_with_the_project_and_translators_with_their_account(served: Served) -> None:
    site = await Site.of(served)
    assert (await site.put(site.tom, project__name="Teich")).status == 200
    used = "SELECT bytes_of(id) AS bytes FROM project WHERE short_name = 'pond'"
    check = "SELECT count(*) AS n FROM project p, check_bytes(p.id, clock()) WHERE p.short_name = 'pond'"
    (before,), (wrong,) = await served.database.fetch(used, {}), await served.database.fetch(check, {})
    assert before["bytes"] > 0 and wrong["n"] == 0, "they count as what the owner stores"
    log = (await site.ada.get("/project/pond/auditlog", headers=HTML)).text
    assert "translated texts" in log and "added a translator" in log
    assert (await site.ada.post("/project/pond/delete", json={"confirm": "pond"})).status == 200
    assert await served.database.fetch("SELECT FROM project_translation", {}) == []


@pytest_twisted.ensureDeferred
async def test_a_copy_of_the_project_takes_them_along(served: Served) -> None:
    site, db = await Site.of(served), served.house.base.db
    assert (await site.put(site.tom, project__name="Teich", questions__animal__text="Welches Tier?")).status == 200
    file = await folder_translations.stored(db, site.project_id)
    copy = await served.project(site.ada, "copy")
    await served.project(site.ada, "teich")
    await folder_translations.restore(db, copy["id"], folder_translations.checked(file, "translations.json"))
    brought = (await folder_translations.stored(db, copy["id"]))["de"]
    assert brought == {"questions/animal/text": file["de"]["questions/animal/text"]}, "the name is in use by now"
    translated = {"text": "x", "source": "0123456789abcdef"}
    for wrong in ({"it": {}}, {"de": []}, {"de": {"a": {"text": "x"}}}, {"de": {"a": translated | {"source": "x"}}}):
        with pytest.raises(InvalidValueError, match=r"translations\.json"):
            folder_translations.checked(wrong, "translations.json")
