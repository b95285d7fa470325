"""The language of a project's texts: chosen by its owner, shown on its card, told to browsers."""

import pytest_twisted
from support.browsers import newcomer
from support.checks.shows import shows

HTML = {"Accept": "text/html"}
HEAD = {"Sec-Fetch-Dest": "iframe"}


async def said(owner, language):
    """Sends the form of the project's words."""
    page = (await owner.page("/project/birds/update")).json()["form"]
    form = {name: page[name] for name in ("name", "short_name", "description")} | {"language": language}
    return await owner.post("/project/birds/update", json=form, headers={"X-CSRFToken": page["csrf"]})


@pytest_twisted.ensureDeferred
async def test_it_is_chosen_among_the_words_and_stands_on_the_card(served):
    owner = await newcomer(served, "owner")
    key = await served.person("keeper")
    project = await served.project(key, tasks=1, published=True)
    await served.database.execute(
        "UPDATE project SET owners_ids = owners_ids || (SELECT id FROM account WHERE name = 'owner'), description = 'Vögel'",
        {},
    )
    assert 'lang="de"' not in (await owner.get("/project/search?q=birds", headers=HTML)).text.partition("<main")[2]
    assert (await said(owner, "de")).status in (200, 302)
    assert 'value="de" lang="de" selected' in (await owner.get("/project/birds/update", headers=HTML)).text
    page = (await served.client().get("/project/search?q=birds", headers=HTML)).text.partition("<main")[2]
    assert '<span lang="de">Deutsch</span>' in page and '<p lang="de" dir="ltr">Vögel</p>' in page
    info = (await key.get(f"/api/project/{project['id']}")).json()["info"]
    assert info == project["info"] | {"language": "de"}, "the rest stays"
    assert (await said(owner, "")).status in (200, 302)
    assert "language" not in (await key.get(f"/api/project/{project['id']}")).json()["info"]


@pytest_twisted.ensureDeferred
async def test_the_presenters_document_speaks_it(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True)
    frame = "/project/birds/newtask?_presenter=1"
    german = HTML | HEAD | {"Accept-Language": "de"}
    unknown = (await served.client().get(frame, headers=german)).text  # its project names no language
    assert '<html lang="und" dir="auto">' in unknown
    path, info = f"/api/project/{project['id']}", project["info"]
    assert (await owner.put(path, json={"info": {**info, "language": "ar"}})).status == 200
    shown = (await served.client().get(frame, headers=german)).text
    assert '<html lang="ar" dir="rtl">' in shown and 'id="PYBOSSA_USER_LOCALE" hidden>de<' in shown
    page = (await served.client().get("/project/birds/", headers=HTML | {"Accept-Language": "de"})).text
    assert '<html lang="de"' in page and '<h1 lang="ar" dir="rtl">' in page


@shows("project-info")
@pytest_twisted.ensureDeferred
async def test_what_is_no_tag_is_refused(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1)
    path, info = f"/api/project/{project['id']}", project["info"]
    for wrong in ("German", "", "de_DE", '"><script>', 7, ["de"], "x" * 9):
        refused = await owner.put(path, json={"info": {**info, "language": wrong}})
        assert (refused.status, refused.json()["exception_cls"]) == (415, "ValueError"), wrong
    for right in ("de", "pt-BR", "zh-Hant", "gsw", None):
        assert (await owner.put(path, json={"info": {**info, "language": right}})).status == 200, right
