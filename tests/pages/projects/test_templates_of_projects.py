"""Templates: found by everybody, used for drafts and for projects that ask nothing yet."""

from __future__ import annotations

import orjson
import pytest
import pytest_twisted
from support.browsers import newcomer
from support.checks.shows import shows
from twisted.internet.defer import ensureDeferred, gatherResults

from crowdd.features.gallery.gallery import SHIPPED
from crowdd.features.gallery.template import GROUPS, read
from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import NAMES
from crowdd.kinds import questions
from crowdd.kinds.questions.text_languages import columns_of, in_language

HTML = {"Accept": "text/html"}
FOLDERS = sorted(path for path in SHIPPED.iterdir() if path.is_dir())
_ALL = frozenset(NAMES)


def texts_by_language(value):
    """Every object of texts by language in a JSON value."""
    if isinstance(value, dict) and "en" in value:
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from texts_by_language(part)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_template_is_a_project_folder_in_every_language(folder):
    contents = read(folder)
    template = contents.as_template(folder.name, folder)
    texts = [
        *texts_by_language(orjson.loads((folder / "project.json").read_bytes())),
        *texts_by_language(template.card.as_json()),
    ]
    assert len(texts) >= 5 and all(text.keys() == _ALL for text in texts), folder.name
    assert all(words.strip() for text in texts for words in text.values())
    assert template.card.group in GROUPS and template.tasks and template.thumbnail
    for locale in NAMES:
        assert questions.validate(in_language(template.questions, locale)) == []
        assert not list(texts_by_language(in_language(template.questions, locale)))
    for info in template.tasks:
        assert columns_of(template.questions) <= info.keys(), "a sample task lacks a column"
    media = {name for name in template.files if name != "thumbnail.webp"}
    named = {value for info in template.tasks for value in info.values()}
    assert media <= named, "a file that no task names"


def test_there_are_enough_of_each_group():
    groups = [read(folder).card.group for folder in FOLDERS]
    assert len(FOLDERS) >= 16 and set(groups) == set(GROUPS)
    assert sum(file.stat().st_size for file in SHIPPED.rglob("*") if file.is_file()) < 1_500_000


def test_a_thumbnail_is_not_older_than_its_template():
    from bench.gallery.thumbnails import DRAWN_FROM, digest

    old = [
        folder.name
        for folder in FOLDERS
        if orjson.loads((folder / DRAWN_FROM).read_bytes())["drawn_from"] != digest(folder)
    ]
    assert old == [], "run python -m bench.gallery.thumbnails"


@pytest.mark.parametrize(
    ("card", "words"),
    [
        (b"[]", "not a JSON object"),
        (b"{", "not JSON"),
        (b'{"group": "smells", "title": "x", "description": "x"}', "`group` must be one of"),
        (b'{"group": "forms", "title": "", "description": "x"}', "Write a text here"),
        (b'{"group": "forms", "title": "x"}', "/description"),
        (b'{"group": "forms", "title": "' + b"x" * 121 + b'", "description": "x"}', "at most 120 characters"),
    ],
)
def test_a_wrong_card_is_refused(tmp_path, card, words):
    (tmp_path / "project.json").write_bytes((SHIPPED / "survey" / "project.json").read_bytes())
    (tmp_path / "template.json").write_bytes(card)
    with pytest.raises(InvalidValueError, match=words):
        read(tmp_path)


@shows("page-templates")
@pytest_twisted.ensureDeferred
async def test_everybody_finds_templates(served):
    visitor = served.client()
    cards = (await visitor.page("/templates")).json()["templates"]
    assert {each["name"] for each in cards} == {folder.name for folder in FOLDERS}
    by_word = (await visitor.page("/templates?q=PENGUINS colony")).json()["templates"]
    assert [each["name"] for each in by_word] == ["count-animals"]
    german = await visitor.get("/templates?q=Pinguine", headers={"Accept": "application/json", "Accept-Language": "de"})
    assert [each["title"] for each in german.json()["templates"]] == ["Durch Klicken zählen"]
    sounds = (await visitor.page("/templates?group=sound")).json()["templates"]
    assert len(sounds) == 3 and {each["group"] for each in sounds} == {"sound"}
    assert (await visitor.page("/templates?q=zzz")).json()["templates"] == []
    assert (await visitor.page("/templates?group=smells")).status == 404
    assert (await visitor.page("/templates/none")).status == 404
    one = (await visitor.page("/templates/boxes")).json()
    assert one["card"]["title"] == "Draw boxes around objects" and len(one["tasks"]) == 3
    assert "Sign in to create your own draft" in (await visitor.get("/templates/boxes", headers=HTML)).text


@shows("template-files")
@pytest_twisted.ensureDeferred
async def test_files_of_templates_are_for_everybody_and_in_parts(served):
    visitor = served.client()
    address = (await visitor.page("/templates/sound-events")).json()["tasks"][0]["sound"]
    whole = await visitor.get(address)
    assert (whole.status, whole.header("content-type")) == (200, "audio/mpeg")
    assert whole.header("access-control-allow-origin") == "*", "the frame has no origin"
    part = await visitor.get(address, headers={"Range": "bytes=10-19"})
    assert (part.status, part.body) == (206, whole.body[10:20])
    assert (await visitor.get(address, headers={"Range": f"bytes={len(whole.body)}-"})).status == 416
    for wrong in ("project.json", "none.png", "..%2Fboxes%2F01.webp", "thumbnail.json"):
        assert (await visitor.get(f"/uploads/gallery/sound-events/{wrong}")).status == 404, wrong


@shows("page-use-template")
@pytest_twisted.ensureDeferred
async def test_one_click_makes_a_draft_in_the_language_of_its_owner(served):
    ada = await newcomer(served, "ada")
    page = {"token_from": "/templates/boxes"}
    done = (await ada.send_form("/templates/boxes/use", {}, **page)).json()
    assert done["next"] == "/project/boxes-1/" and done["status"] == "success"
    project = (await ada.page("/project/boxes-1/")).json()
    info = project["project"]["info"]
    question = info["questions"]["steps"][0]["questions"][0]
    assert question["text"] == "Draw a box around every duck and every boat." and info["language"] == "en"
    assert project["n_tasks"] == 3 and not project["project"]["published"]
    task = (await ada.get(f"/api/project/{project['project']['id']}/newtask")).json()
    assert (await ada.get(task["info"]["picture"])).body[8:12] == b"WEBP" and task["n_answers"] == 3
    again = (await ada.send_form("/templates/boxes/use", {}, **page)).json()
    assert again["next"] == done["next"], "nothing was changed in it"
    key = served.client((await ada.page("/account/profile")).json()["user"]["api_key"])
    await key.post("/api/task", json={"project_id": project["project"]["id"], "info": {"picture": "mine"}})
    other = (await ada.send_form("/templates/boxes/use", {}, **page)).json()
    assert other["next"] == "/project/boxes-1-2/", "the first one has data of its own"
    named = (
        await ada.send_form(
            "/templates/survey/use", {"name": "Our town", "languages": "y"}, token_from="/templates/survey"
        )
    ).json()
    assert named["next"] == "/project/our-town/"
    info = (await ada.page("/project/our-town/")).json()["project"]["info"]
    assert info["questions"]["steps"][0]["title"].keys() == _ALL


@shows("page-use-template")
@pytest_twisted.ensureDeferred
async def test_two_clicks_at_once_make_one_whole_draft(served):
    ada = await newcomer(served, "ada")
    token = (await ada.page("/templates/boxes")).json()["form"]["csrf"]
    clicks = [
        ensureDeferred(ada.post("/templates/boxes/use", json={}, headers={"X-CSRFToken": token})) for _ in range(3)
    ]
    answers = [answer.json() for answer in await gatherResults(clicks)]
    assert {answer["next"] for answer in answers} == {"/project/boxes-1/"}, answers
    rows = await served.database.fetch("SELECT count(*) AS n, count(DISTINCT project_id) AS projects FROM task")
    assert (rows[0]["n"], rows[0]["projects"]) == (3, 1)
    marked = await served.database.fetch("SELECT count(*) AS n FROM sample_task")
    assert marked[0]["n"] == 3


@shows("page-use-template")
@pytest_twisted.ensureDeferred
async def test_a_project_that_asks_nothing_gets_the_questions_only(served):
    ada, bob = await newcomer(served, "ada"), await newcomer(served, "bob")
    await ada.send_form("/project/new", {"name": "Ponds", "description": "x"}, token_from="/project/new")
    listed = await ada.page("/templates?project=ponds")
    assert (
        listed.status == 200
        and "templates/boxes?project=ponds" in (await ada.get("/templates?project=ponds", headers=HTML)).text
    )
    assert (await bob.page("/templates?project=ponds")).status == 404, "a draft of somebody else"
    form = {"project": "ponds"}
    stolen = await bob.send_form("/templates/boxes/use", form, token_from="/templates/boxes")
    assert stolen.status == 404
    done = (await ada.send_form("/templates/boxes/use", form, token_from="/templates/boxes")).json()
    assert done["next"].startswith("/project/ponds/tasks/taskpresentereditor")
    project = (await ada.page("/project/ponds/")).json()
    assert project["n_tasks"] == 0 and project["project"]["name"] == "Ponds" and project["project"]["info"]["questions"]
    refused = await ada.send_form("/templates/survey/use", form, token_from="/templates/boxes")
    assert refused.status == 415 and "Use the template for a new project" in refused.text


@pytest_twisted.ensureDeferred
async def test_a_draft_needs_an_account_and_a_token(served):
    visitor, ada = served.client(), await newcomer(served, "ada")
    assert (await ada.post("/templates/boxes/use", json={})).status == 400
    refused = await visitor.send_form("/templates/boxes/use", {}, token_from="/account/signin")
    assert (refused.status, refused.header("location")) == (302, "/account/signin?next=/")
    assert await served.database.fetch("SELECT FROM project") == []


@shows("page-delete-template")
@pytest_twisted.ensureDeferred
async def test_an_administrator_hides_a_template_of_crowdd(served):
    ada, root = await newcomer(served, "ada"), await newcomer(served, "root")
    await served.database.execute("UPDATE account SET admin = true WHERE name = 'root'")
    page = {"token_from": "/templates/survey"}
    assert (await ada.send_form("/templates/survey/delete", {}, **page)).status == 403
    assert (await root.send_form("/templates/survey/delete", {}, **page)).json()["status"] == "success"
    assert (await ada.page("/templates/survey")).status == 404
    assert len((await ada.page("/templates")).json()["templates"]) == len(FOLDERS) - 1
