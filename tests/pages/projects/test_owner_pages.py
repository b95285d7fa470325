"""What the pages of an owner do, and refuse: as programs send it, with what they send back of a form."""

from __future__ import annotations

from io import BytesIO

import pytest
import pytest_twisted
from PIL import Image
from support.browsers import newcomer, signed_in
from support.checks.shows import shows

from crowdd.features.projects import project_validation, starters

HTML = {"Accept": "text/html", "Sec-Fetch-Site": "same-origin"}


async def owned(served, **more):
    ada = await served.person("ada")
    return ada, await served.project(ada, **more)


async def form_of(client, path, name="form"):
    return (await client.page(path)).json()[name]


async def sent(client, path, **changes):
    """Posts a page's whole form back, with changes, as front ends do: with csrf, errors and nulls."""
    return (await client.post(path, json={**await form_of(client, path), **changes})).json()


async def acts(served, project_id):
    rows = await served.database.fetch(
        "SELECT action, attribute, user_name FROM audit WHERE project_id = %(id)s ORDER BY id", {"id": project_id}
    )
    return [(row["action"], row["attribute"], row["user_name"]) for row in rows]


# New


@shows("page-new-post")
@pytest_twisted.ensureDeferred
async def test_a_project_takes_three_fields_and_goes_on_to_its_presenter(served):
    ada = await served.person("ada")
    fields = {"name": "Igel & Co", "description": "Is there a hedgehog?"}
    made = await sent(ada, "/project/new", **fields)
    assert made["next"] == "/project/igel-co/tasks/taskpresentereditor" and made["status"] == "success"
    project = (await ada.get("/api/project?short_name=igel-co")).json()[0]
    assert (project["name"], project["description"], project["published"]) == (
        "Igel & Co",
        "Is there a hedgehog?",
        False,
    )
    assert project["owner_id"] == ada.user_id and project["category_id"]


@shows("page-new-post")
@pytest_twisted.ensureDeferred
async def test_a_long_description_alone_gives_the_sentence_of_lists(served):
    ada = await served.person("ada")
    story = "# Night\n\n*Who* walks through the [gate](https://gate.example)?" + " And why?" * 60
    made = await sent(ada, "/project/new", name="Gate", short_name="gate", long_description=story)
    project = (await ada.get("/api/project?short_name=gate")).json()[0]
    assert made["next"].startswith("/project/gate/")
    assert project["description"].startswith("Night Who walks through the gate? And why?")
    assert len(project["description"]) == 255 and project["long_description"] == story


@shows("page-new-post")
@pytest_twisted.ensureDeferred
async def test_a_new_project_is_refused_field_by_field_and_nothing_is_lost(served):
    ada, _ = await owned(served)
    for fields, wrong in (
        ({}, {"name", "description"}),
        ({"name": "Birds", "short_name": "other", "description": "x"}, {"name"}),
        ({"name": "Other", "short_name": "birds", "description": "x"}, {"short_name"}),
        ({"name": "Other", "short_name": "new", "description": "x"}, {"short_name"}),
        ({"name": "Other", "short_name": "Igel & Co", "description": "x"}, {"short_name"}),
        ({"name": "x" * 256, "description": "y" * 256}, {"name", "description"}),
    ):
        answer = await sent(ada, "/project/new", **fields)
        assert answer["form"]["errors"].keys() == wrong and answer["status"] == "error" and answer["errors"], fields
        assert {name: answer["form"][name] for name in fields} == fields
    assert (
        "igel-co"
        in (await sent(ada, "/project/new", name="O", short_name="Igel & Co", description="x"))["form"]["errors"][
            "short_name"
        ][0]
    )
    assert len((await ada.get("/api/project")).json()) == 1


@pytest.mark.parametrize(
    ("markdown", "plain"),
    (
        ("", ""),
        ("a *b* `c`", "a b c"),
        ("![x](y.png) see [here](z)", "x see here"),
        ("<b>bold</b>\n\nand on", "bold and on"),
    ),
)
def test_the_first_sentence_has_no_marks(markdown, plain):
    assert project_validation.first_sentence(markdown) == plain


# Details, lock, picture


@shows("page-update", "page-update-post")
@pytest_twisted.ensureDeferred
async def test_the_details_go_back_as_a_whole_model(served):
    ada, project = await owned(served)
    first = await form_of(ada, "/project/birds/update")
    assert first["name"] == "Birds" and first["protect"] is False and first["password"] is None
    done = await sent(ada, "/project/birds/update", name="Finches", short_name="finches", btn="Save", category_id=2)
    assert done == {"next": "/project/finches/", "flash": "Project updated!", "status": "success"}
    row = (await ada.get(f"/api/project/{project['id']}")).json()
    assert (row["name"], row["short_name"], row["category_id"]) == ("Finches", "finches", 2)
    assert row["info"] == {"task_presenter": "<p>?</p>"} and row["allow_anonymous_contributors"] is True
    assert ("update", "name", "ada") in await acts(served, project["id"])


@shows("page-update-post")
@pytest_twisted.ensureDeferred
async def test_details_are_refused_field_by_field(served):
    ada, _ = await owned(served)
    await served.project(ada, "fish")
    for fields, wrong in (
        ({"name": ""}, "name"), ({"name": "Fish"}, "name"), ({"short_name": "fish"}, "short_name"),
        ({"short_name": "category"}, "short_name"), ({"description": ""}, "description"),
        ({"category_id": 99}, "category_id"), ({"category_id": "x"}, "category_id"),
        ({"webhook": "http://127.0.0.1/"}, "webhook"), ({"protect": True, "password": ""}, "password"),
    ):  # fmt: skip
        answer = await sent(ada, "/project/birds/update", **fields)
        assert list(answer["form"]["errors"]) == [wrong] and answer["status"] == "error", fields
    assert (await ada.page("/project/birds/")).json()["project"]["name"] == "Birds"


@shows("page-update-password")
@pytest_twisted.ensureDeferred
async def test_a_form_of_a_page_says_off_by_leaving_a_box_out(served):
    await served.person("ada")
    ada = await signed_in(served, "ada")
    owner = served.client((await ada.page("/account/profile")).json()["user"]["api_key"])
    await served.project(owner)
    form = await form_of(ada, "/project/birds/update")
    plain = {"csrf_token": form["csrf"], "name": "Birds", "short_name": "birds", "description": "Is there one?"}
    answer = await ada.post("/project/birds/update", data=plain, headers=HTML)
    assert (answer.status, answer.header("location")) == (302, "/project/birds/")
    after = await form_of(ada, "/project/birds/update")
    assert (after["allow_anonymous_contributors"], after["zip_download"]) == (False, False)
    response = await sent(owner, "/project/birds/update")
    assert response["status"] == "success"


@shows("page-update-password")
@pytest_twisted.ensureDeferred
async def test_a_password_is_set_changed_and_removed(served):
    ada, project = await owned(served, published=True, tasks=1)
    visitor = served.client()

    async def locked():
        return (await visitor.page("/project/birds/")).status == 403

    assert not await locked()
    first = await sent(ada, "/project/birds/update", protect=True, password="sesame")
    assert first["status"] == "success" and await locked()
    opened = await visitor.send_form("/project/birds/password", {"password": "sesame"})
    assert opened.json() == {"next": "/project/birds/"} and not await locked()
    await sent(ada, "/project/birds/update", name="Finches")  # says protect, and no new password: the old one stays
    assert not await locked() and (await served.client().page("/project/birds/")).status == 403
    changed = await ada.post("/project/birds/update", json={"btn": "Password", "protect": True, "password": "open"})
    assert changed.json()["next"] == "/project/birds/settings" and await locked()
    gone = await ada.post("/project/birds/update", json={"btn": "Password", "protect": False})
    assert gone.json()["status"] == "success" and not await locked()
    assert [act[0] for act in await acts(served, project["id"])][-1] == "remove_password"


def picture(size=(900, 900), form="PNG"):
    out = BytesIO()
    Image.new("RGB", size, (0, 0, 255)).save(out, form)
    return out.getvalue()


@shows("page-update-post")
@pytest_twisted.ensureDeferred
async def test_a_project_gets_its_picture(served):
    ada, project = await owned(served)

    async def upload(content, name="blob"):
        files = {"avatar": (name, BytesIO(content))}
        path = "/project/birds/update?response_format=json"
        return (await ada.post(path, files=files, data={"btn": "Upload"})).json()

    done = await upload(picture())
    assert done["status"] == "success", done
    info = (await ada.get(f"/api/project/{project['id']}")).json()["info"]
    assert info["task_presenter"] == "<p>?</p>" and info["container"] == f"project-{project['id']}"
    shown = await served.client().get(info["thumbnail_url"].removeprefix(served.house.base.settings.base_url))
    with Image.open(BytesIO(shown.body)) as seen:
        assert (seen.size, seen.format) == ((720, 480), "WEBP")
    refused = await upload(b"GIF89a and nothing else")
    assert list(refused["upload_form"]["errors"]) == ["avatar"] and refused["status"] == "error"
    empty = (await ada.post("/project/birds/update", json={"btn": "Upload"})).json()
    assert list(empty["upload_form"]["errors"]) == ["avatar"]
    again = (await ada.get(f"/api/project/{project['id']}")).json()["info"]
    assert again["thumbnail_url"] == info["thumbnail_url"]


# The presenter


@shows("page-editor")
@pytest_twisted.ensureDeferred
async def test_a_starter_is_begun_and_its_words_are_changed_apart(served):
    ada, project = await owned(served)
    await ada.put(f"/api/project/{project['id']}", json={"info": {"sched": "random"}})
    at = "/project/birds/tasks/taskpresentereditor"
    options = (await ada.page(at)).json()
    assert options["template"] == "project/task_presenter_options.html" and options["presenters"] == ["picture", "text"]
    begun = (await ada.post(at, json={"btn": "Start", "template": "picture"})).json()
    assert begun["status"] == "success"
    editor = (await ada.page(at)).json()
    assert editor["template"] == "project/task_presenter_editor.html"
    asked = starters.asked(editor["form"]["editor"])
    declared = (await ada.get("/api/project?short_name=birds")).json()[0]["info"]["answer_key"]
    assert declared == starters.ANSWER_KEY and f"{{ {declared}: " in starters.source("picture")
    assert asked["question"] == "Is there a bird?" and asked["answers"] == ["Yes", "No"]
    words = {"question": "Which </script> bird?", "answers": "Finch\n\n Tit \nFinch", "unsure": ""}
    assert (await ada.post(at, json={"btn": "Words", **words})).json()["status"] == "success"
    stored = (await ada.get(f"/api/project/{project['id']}")).json()["info"]
    assert stored["sched"] == "random"
    label = {"name": "answer", "at": "/answer", "type": "label"}
    assert stored["answers"] == [label | {"choices": ["Finch", "Tit"]}]
    assert starters.asked(stored["task_presenter"]) == {
        "question": "Which </script> bird?", "answers": ["Finch", "Tit"], "unsure": "", "picture": "", "caption": "",
    }  # fmt: skip
    assert "Which </script>" not in stored["task_presenter"]
    for wrong in ({"question": ""}, {"answers": " \n"}, {"answers": "\n".join(map(str, range(41)))}):
        refused = (await ada.post(at, json={"btn": "Words", **words, **wrong})).json()
        assert list(refused["form"]["errors"]) == list(wrong), wrong


@shows("page-editor")
@pytest_twisted.ensureDeferred
async def test_a_starter_asks_what_is_written_where_it_is_chosen(served):
    ada, project = await owned(served)
    await ada.put(f"/api/project/{project['id']}", json={"info": {}})
    at, browser = "/project/birds/tasks/taskpresentereditor", await signed_in(served, "ada")
    assert 'id="builder"' in (await browser.get(at, headers={"Accept": "text/html"})).text  # it comes first
    page = (await browser.get(f"{at}?part=task_presenter", headers={"Accept": "text/html"})).text
    assert 'value="Is there a bird?"' in page and "Yes\nNo</textarea>" in page
    start = {"btn": "Start", "template": "picture", "question": "Which bird?", "answers": "Finch\n\nTit\nFinch"}
    for wrong in ({"question": " "}, {"answers": ""}):
        refused = (await ada.post(at, json={**start, **wrong})).json()
        assert refused["template"] == "project/task_presenter_options.html", wrong
        assert list(refused["form"]["errors"]) == list(wrong), wrong
    assert "task_presenter" not in (await ada.get(f"/api/project/{project['id']}")).json()["info"]
    begun = (await ada.post(at, json=start)).json()
    assert begun["next"] == "/project/birds/tasks/import"
    stored = (await ada.get(f"/api/project/{project['id']}")).json()["info"]["task_presenter"]
    asked = starters.asked(stored)
    assert (asked["question"], asked["answers"]) == ("Which bird?", ["Finch", "Tit"])
    text = (await ada.post(at, json={**start, "template": "text", "answers": ""})).json()
    assert text["status"] == "success"  # it has a field instead of answers
    stored = (await ada.get(f"/api/project/{project['id']}")).json()["info"]["task_presenter"]
    assert starters.asked(stored)["question"] == "Which bird?"


@shows("page-editor")
@pytest_twisted.ensureDeferred
async def test_a_text_of_ones_own_is_kept_as_it_is(served):
    ada, project = await owned(served)
    at = "/project/birds/tasks/taskpresentereditor"
    source = "<div id='x'>\r\n<script>pybossa.run('birds') // ünï</script></div>"
    done = await sent(ada, at, editor=source)
    assert done["next"] == at and done["status"] == "success"
    assert (await form_of(ada, at))["editor"] == source
    tutorial = (await ada.post(f"{at}?part=tutorial", json={"editor": "<p>First</p>"})).json()
    assert tutorial["next"] == f"{at}?part=tutorial"
    info = (await ada.get(f"/api/project/{project['id']}")).json()["info"]
    assert info == {"task_presenter": source, "tutorial": "<p>First</p>"}
    refused = (await ada.post(at, json={"editor": " "})).json()
    assert list(refused["form"]["errors"]) == ["editor"]
    assert (await ada.post(f"{at}?part=tutorial", json={"editor": ""})).json()["status"] == "success"
    assert (await ada.post(at, json={"btn": "Words", "question": "?"})).status == 415
    assert (await ada.page(f"{at}?template=image")).json()["form"]["editor"] == starters.source("picture")
    assert ("update", "info.tutorial", "ada") in await acts(served, project["id"])


@pytest_twisted.ensureDeferred
async def test_the_previews_frame_is_opaque_and_empty(served):
    await owned(served)
    frame = {"Sec-Fetch-Dest": "iframe", "Sec-Fetch-Site": "same-origin"}
    shown = await served.client().get("/project/birds/tasks/taskpresentereditor?_presenter=1", headers=frame)
    assert shown.status == 200 and shown.header("content-security-policy").startswith(
        "sandbox allow-scripts allow-forms;"
    )
    assert shown.header("set-cookie") is None and "Is there a bird" not in shown.text and "preview.js" in shown.text


@pytest.mark.parametrize("name", starters.NAMES)
def test_a_starter_speaks_for_itself(name):
    document = starters.source(name)
    assert starters.asked(document)["question"] and starters.samples(document)
    assert starters.asked(starters.asking(document, {"question": "<!-- </script>"})) == {"question": "<!-- </script>"}
    for broken in ("", "<p>", '<script type="application/json" id="asked">{</script>'):
        assert starters.asked(broken) is None


# Those who run it


@shows("page-coowner-add", "page-coowners")
@pytest_twisted.ensureDeferred
async def test_coowners_are_found_added_and_removed(served):
    ada, project = await owned(served)
    bob = await served.person("bob")
    page = (await ada.page("/project/birds/coowners")).json()
    assert [(one["name"], one["is_creator"], one["is_coowner"]) for one in page["coowners"]] == [("ada", True, True)]
    assert "email_addr" not in page["coowners"][0] and page["found"] == []
    response = (await ada.post("/project/birds/coowners", json={"user": "bob"})).json()
    assert [(one["name"], one["is_coowner"]) for one in response["found"]] == [("bob", False)]
    assert (await ada.post("/project/birds/coowners", json={"user": "bo"})).json()["found"] == []
    assert (await bob.page("/project/birds/settings")).status == 404  # a draft
    added = await ada.page("/project/birds/add_coowner/bob")
    assert added.json()["status"] == "success" and (await bob.page("/project/birds/settings")).status == 200
    assert (await ada.page("/project/birds/add_coowner/bob")).json()["status"] == "info"
    assert (await ada.page("/project/birds/add_coowner/nobody")).status == 404
    assert (await bob.post("/project/birds/del_coowner/ada", json={})).status == 403
    assert (await ada.post("/project/birds/del_coowner/bob", json={})).json()["status"] == "success"
    assert (await bob.page("/project/birds/settings")).status == 404
    assert (await ada.post("/project/birds/del_coowner/bob", json={})).json()["status"] == "info"
    actions = [act[0] for act in await acts(served, project["id"])]
    assert [act for act in actions if "coowner" in act] == ["add_coowner", "remove_coowner"]


@shows("get-asks", "page-coowner-add")
@pytest_twisted.ensureDeferred
async def test_get_by_a_browser_makes_nobody_a_coowner(served):
    ada, _ = await owned(served)
    await served.person("bob")
    browser = await signed_in(served, "ada")
    for path in ("add_coowner/bob", "del_coowner/bob"):
        for headers in ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document"}, HTML, {}):
            assert 'method="post"' in (await browser.get(f"/project/birds/{path}", headers=headers)).text, headers
        assert (await browser.get(f"/project/birds/{path}", headers={**HTML, "Sec-Fetch-Dest": "image"})).status == 403
    assert len((await ada.page("/project/birds/coowners")).json()["coowners"]) == 1


@shows("page-invitation")
@pytest_twisted.ensureDeferred
async def test_an_invitation_works_once_and_for_a_week(served):
    ada, _ = await owned(served)
    bob, cora = await served.person("bob"), await served.person("cora")

    async def invite():
        made = (await ada.post("/project/birds/coowners/invite", json={})).json()
        assert made["status"] == "success" and made["invitation"]
        return made["invitation_url"].removeprefix(served.house.base.settings.base_url)

    first, link = await invite(), await invite()
    shown = await served.client().get(link, headers=HTML)
    assert (
        shown.status == 200
        and "Birds" in shown.text
        and "/account/signin?next=/project/birds/invitation%3Fkey%3D" in shown.text
    )
    assert (await served.client().page(link)).json()["project"] == {"name": "Birds", "short_name": "birds"}
    assert (await served.client().post(link, json={})).status in (302, 400)
    assert (await bob.post(first, json={})).status == 403, "the first ended with the second"
    assert (await bob.post(link.replace("birds", "fish"), json={})).status == 403
    assert (await bob.post(link, json={})).json() == {
        "next": "/project/birds/settings", "status": "success",
        "flash": "You are now a co-owner of this project.",
    }  # fmt: skip
    assert (await cora.post(link, json={})).status == 403 and (await cora.page("/project/birds/settings")).status == 404
    assert (await ada.page("/project/birds/coowners")).json()["invitation"] is None
    withdrawn = await invite()
    assert (await bob.post("/project/birds/coowners/withdraw", json={})).json()["status"] == "success"
    assert (await cora.page(withdrawn)).status == 403
    late = await invite()
    await served.database.execute("UPDATE clock_shift SET ahead = '8 days'")
    assert (await cora.post(late, json={})).status == 403


@shows("page-coowner-add")
@pytest_twisted.ensureDeferred
async def test_a_removed_coowner_keeps_no_way_back(served):
    ada, project = await owned(served)
    bob = await served.person("bob")
    await ada.post("/project/birds/add_coowner/bob", json={})
    made = (await bob.post("/project/birds/coowners/invite", json={})).json()["invitation_url"]
    invitation = made.removeprefix(served.house.base.settings.base_url)
    key = (await bob.get(f"/api/project/{project['id']}")).json()["secret_key"]
    draft = (
        (await bob.page("/project/birds/publish")).json()["try_link"].removeprefix(served.house.base.settings.base_url)
    )
    removal = (await ada.post("/project/birds/del_coowner/bob", json={})).json()
    assert removal["status"] == "success" and "new secret key" in removal["flash"]
    assert (await bob.post(invitation, json={})).status == 403
    assert (await served.client().get("/api/auth/project/birds/token", headers={"Authorization": key})).status == 404
    assert (await bob.get(draft, headers={"Content-Type": "application/json"})).status == 404
    assert (await bob.get(f"/api/project/{project['id']}")).status == 404
    assert (await ada.get(f"/api/project/{project['id']}")).json()["secret_key"] != key


@shows("project-change-who")
@pytest_twisted.ensureDeferred
async def test_a_coowner_does_not_delete_the_project(served):
    ada, project = await owned(served)
    bob = await served.person("bob")
    await ada.post("/project/birds/add_coowner/bob", json={})
    assert (await bob.delete(f"/api/project/{project['id']}")).status == 403
    assert (await bob.page("/project/birds/delete")).status == 403
    assert (await bob.post("/project/birds/delete", json={"confirm": "birds"})).status == 403
    assert "/project/birds/delete" not in (await bob.get("/project/birds/settings", headers=HTML)).text
    assert "/project/birds/delete" in (await ada.get("/project/birds/settings", headers=HTML)).text
    assert (await ada.delete(f"/api/project/{project['id']}")).status == 204


@shows("page-invitation")
@pytest_twisted.ensureDeferred
async def test_two_who_open_one_invitation_at_once_are_one_coowner(served):
    from twisted.internet.defer import ensureDeferred, gatherResults

    ada, _ = await owned(served)
    bob, cora = await served.person("bob"), await served.person("cora")
    made = (await ada.post("/project/birds/coowners/invite", json={})).json()["invitation_url"]
    link = made.removeprefix(served.house.base.settings.base_url)
    both = await gatherResults([ensureDeferred(one.post(link, json={})) for one in (bob, cora)])
    assert sorted(answer.status for answer in both) == [200, 403]
    assert len((await ada.page("/project/birds/coowners")).json()["coowners"]) == 2


@shows("page-transfer")
@pytest_twisted.ensureDeferred
async def test_a_project_is_handed_over(served):
    ada, project = await owned(served)
    bob, cora = await served.person("bob"), await served.person("cora")
    for name in ("bob", "cora"):
        await ada.post(f"/project/birds/add_coowner/{name}", json={})
    assert (await bob.post("/project/birds/transferownership", json={"email_addr": "bob"})).status == 403
    refused = (await ada.post("/project/birds/transferownership", json={"email_addr": "who@example.org"})).json()
    assert list(refused["form"]["errors"]) == ["email_addr"]
    transfer = (
        await ada.post("/project/birds/transferownership", json={"email_addr": "bob@example.org", "keep": True})
    ).json()
    assert transfer["status"] == "success"
    owners = (await bob.page("/project/birds/coowners")).json()["coowners"]
    assert [(one["name"], one["is_creator"]) for one in owners] == [("bob", True), ("ada", False), ("cora", False)]
    assert (await ada.post("/project/birds/transferownership", json={"email_addr": "ada"})).status == 403
    await bob.post("/project/birds/transferownership", json={"email_addr": "cora"})
    assert [(await one.page("/project/birds/settings")).status for one in (ada, bob, cora)] == [404, 404, 200]
    assert [act[0] for act in await acts(served, project["id"])].count("transfer") == 2


@shows("page-transfer")
@pytest_twisted.ensureDeferred
async def test_nobody_learns_addresses_by_handing_over(served):
    ada, _ = await owned(served)
    for _ in range(20):
        assert (await ada.post("/project/birds/transferownership", json={"email_addr": "x@example.org"})).status == 200
    assert (await ada.post("/project/birds/transferownership", json={"email_addr": "x@example.org"})).status == 429


@shows("external-rotate", "external-secret", "page-secret-key")
@pytest_twisted.ensureDeferred
async def test_the_secret_key_is_shown_and_made_again(served):
    ada, project = await owned(served, tasks=1, published=True)

    async def key():
        return (await ada.page("/project/birds/settings")).json()["project"]["secret_key"]

    old = await key()
    token = (await served.client(Authorization=old).get("/api/auth/project/birds/token")).text
    done = (await ada.post("/project/birds/resetsecretkey", json={})).json()
    assert done["status"] == "success" and await key() != old
    asked = f"/api/{project['id']}/newtask?external_uid=x"
    assert (await served.client(Authorization=f"Bearer {token}").get(asked)).status == 401
    page = await ada.get("/project/birds/auditlog", headers=HTML)
    assert old not in page.text and await key() not in page.text and "created a new secret key" in page.text


# The blog


@shows("page-blog-edit")
@pytest_twisted.ensureDeferred
async def test_posts_are_written_changed_and_deleted(served):
    ada, _ = await owned(served, tasks=1, published=True)
    visitor = served.client()
    refused = (await ada.post("/project/birds/new-blogpost", json={"title": "x" * 256, "body": ""})).json()
    assert refused["form"]["errors"].keys() == {"title", "body"} and refused["form"]["title"] == "x" * 256
    made = await sent(ada, "/project/birds/new-blogpost", title="News", body="*Good* news", published=False)
    at = made["next"]
    assert (await visitor.page("/project/birds/blog")).json()["blogposts"] == []
    assert (await visitor.page(at)).status == 302
    await sent(ada, f"{at}/update", published=True, title="Better news")
    assert [post["title"] for post in (await visitor.page("/project/birds/blog")).json()["blogposts"]] == [
        "Better news"
    ]
    shown = await visitor.get(at, headers=HTML)
    assert (
        "<em>Good</em> news" in shown.text
        and "Better news" in (await visitor.get("/project/birds/", headers=HTML)).text
    )
    assert (await ada.post(f"{at}/delete", json={})).json()["next"] == "/project/birds/blog"
    assert (await visitor.page(at)).status == 404
    log = (await ada.page("/project/birds/auditlog")).json()["auditlog"]
    acts = [(act["action"], act["attribute"]) for act in log if act["kind"] == "blogpost"]
    assert acts[0] == ("delete", None) and acts[-1] == ("create", None)
    assert {*acts[1:-1]} == {("update", "title"), ("update", "published")} and log[0]["user_name"] == "ada"


@pytest_twisted.ensureDeferred
async def test_a_log_keeps_the_beginning_of_a_long_post(served):
    ada, project = await owned(served)
    post = {"project_id": project["id"], "title": "a", "body": "b" * 30_000}
    made = (await ada.post("/api/blogpost", json=post)).json()
    await ada.put(f"/api/blogpost/{made['id']}", json={"body": "c" * 30_000, "title": "a"})
    assert (await ada.put(f"/api/blogpost/{made['id']}", json={"title": ""})).status == 415
    changed = (await ada.page("/project/birds/auditlog")).json()["auditlog"][0]
    assert (changed["action"], changed["attribute"], changed["object_id"]) == ("update", "body", made["id"])
    assert len(changed["after"]) == 10_001 and changed["before"].endswith("b…")


@shows("page-blog")
@pytest_twisted.ensureDeferred
async def test_a_blog_goes_on_where_a_page_ends(served):
    ada, project = await owned(served, tasks=1, published=True)
    for number in range(23):
        post = {"project_id": project["id"], "title": f"Post {number}", "body": "x", "published": True}
        await ada.post("/api/blogpost", json=post)
    first = (await ada.page("/project/birds/blog")).json()
    rest = (await ada.page(f"/project/birds/blog?before={first['next']}")).json()
    titles = [post["title"] for post in first["blogposts"] + rest["blogposts"]]
    assert titles == [f"Post {number}" for number in range(22, -1, -1)] and rest["next"] is None


# The end


@shows("page-delete")
@pytest_twisted.ensureDeferred
async def test_a_project_is_deleted_when_its_name_is_typed(served):
    ada, project = await owned(served, tasks=1)
    for typed in ("", "Birds", "fish"):
        refused = (await ada.post("/project/birds/delete", json={"confirm": typed})).json()
        assert list(refused["form"]["errors"]) == ["confirm"], typed
    plain = await ada.post("/project/birds/delete", data={"csrf_token": "x"}, headers=HTML)
    assert plain.status == 200 and (await ada.page("/project/birds/")).status == 200, "a page has to have it typed"
    done = (await ada.post("/project/birds/delete", json={"confirm": "birds"})).json()
    assert done == {"next": "/account/ada/", "flash": "Project deleted.", "status": "success"}
    assert (await ada.page("/project/birds/")).status == 404
    assert (await ada.get(f"/api/task?project_id={project['id']}&all=1")).json() == []


@shows("page-delete")
@pytest_twisted.ensureDeferred
async def test_a_front_end_that_knows_no_typed_name_deletes_as_the_api_does(served):
    ada, project = await owned(served, tasks=1)
    await served.project(ada, "fish")
    page = (await ada.page("/project/fish/delete")).json()
    whole = {**page["form"], "csrf": page["csrf"]}
    assert page["csrf"] and whole["confirm"] is None
    assert (await ada.post("/project/fish/delete", json=whole)).json()["status"] == "success"
    assert (await ada.page("/project/fish/")).status == 404
    task = (await ada.get(f"/api/project/{project['id']}/newtask")).json()
    await ada.put(f"/api/task/{task['id']}", json={"n_answers": 1})
    run = {"project_id": project["id"], "task_id": task["id"], "info": 1}
    assert (await ada.post("/api/taskrun", json=run)).status == 200
    for sent_ in ({}, {"confirm": None}):
        refused = (await ada.post("/project/birds/delete", json=sent_)).json()
        assert refused["status"] == "error" and list(refused["form"]["errors"]) == ["confirm"], "there is a result"
        assert refused["flash"] == "Type the short name of the project exactly."
    assert (await ada.post("/project/birds/delete", json={"confirm": "birds"})).json()["status"] == "success"


@pytest_twisted.ensureDeferred
async def test_the_log_says_acts_as_people_do(served):
    ada, project = await owned(served, tasks=1)
    post = {"project_id": project["id"], "title": "Spring <is> here", "body": "b"}
    spring = (await ada.post("/api/blogpost", json=post)).json()
    assert (await ada.request("DELETE", f"/api/blogpost/{spring['id']}")).status == 204
    assert (await ada.request("DELETE", f"/api/task/{(await ada.get('/api/task')).json()[0]['id']}")).status == 204
    log = (await ada.page("/project/birds/auditlog")).json()["auditlog"]
    assert [act["before"] for act in log if act["action"] == "delete"] == [None, {"title": "Spring <is> here"}]
    page = (await ada.get("/project/birds/auditlog", headers=HTML)).text
    for words in ("deleted a blog post: <bdi>“Spring &lt;is&gt; here”</bdi>", "wrote a blog post", "deleted a task "):
        assert words in page, words


@shows("page-auditlog")
@pytest_twisted.ensureDeferred
async def test_the_log_of_a_project_is_its_own_and_goes_on(served):
    ada, project = await owned(served)
    await served.project(ada, "fish")
    for number in range(55):
        await ada.put(f"/api/project/{project['id']}", json={"description": f"Sentence {number}"})
    first = (await ada.page("/project/birds/auditlog")).json()
    rest = (await ada.page(f"/project/birds/auditlog?before={first['next']}")).json()
    assert len(first["auditlog"]) == 50 and rest["next"] is None
    assert first["auditlog"][0]["after"] == "Sentence 54" and rest["auditlog"][-1]["action"] == "create"
    assert {act["project_id"] for act in first["auditlog"] + rest["auditlog"]} == {project["id"]}


@pytest_twisted.ensureDeferred
async def test_a_browser_shows_mistakes_with_what_was_typed(served):
    ada = await newcomer(served, "ada")
    token = (await form_of(ada, "/project/new"))["csrf"]
    form = {"csrf_token": token, "name": "", "short_name": "my birds", "description": "Is there one?"}
    page = await ada.post("/project/new", data=form, headers=HTML)
    assert page.status == 200 and 'value="my birds"' in page.text and "Is there one?" in page.text
    assert page.text.count('aria-invalid="true"') == 2


@pytest_twisted.ensureDeferred
async def test_a_front_end_goes_the_whole_way_with_the_tokens_of_its_forms(served):
    """What single-page front ends send: JSON both ways, the form's token in the header, the whole model sent back."""
    ada = await newcomer(served, "ada")

    async def send(path, form="form", **changes):
        page = (await ada.page(path)).json()
        model = page[form] if form else {"csrf": page["csrf"]}
        answer = await ada.post(path, json={**model, **changes}, headers={"X-CSRFToken": model["csrf"]})
        assert answer.status == 200 and answer.json()["status"] == "success", (path, answer.body)
        return answer.json()["next"]

    editor = await send("/project/new", name="Birds", short_name="birds", long_description="Is there *one*?")
    assert editor == "/project/birds/tasks/taskpresentereditor"
    await send(editor, editor="<p>?</p>")
    await send("/project/birds/update", description="Is there a bird?", btn="Save")
    upload = (await ada.page("/project/birds/update")).json()["upload_form"]
    sent_file = await ada.post(
        "/project/birds/update?response_format=json",
        files={"avatar": ("blob", BytesIO(picture()))},
        data={"btn": "Upload", "x1": "0", "y1": "0", "x2": "600", "y2": "400"},
        headers={"X-CSRFToken": upload["csrf"]},
    )
    assert sent_file.json()["status"] == "success"
    project = (await ada.get("/api/project?short_name=birds")).json()[0]
    task = {"project_id": project["id"], "info": {"n": 1}}
    assert (await ada.post("/api/task", json=task)).status == 200
    assert await send("/project/birds/publish", form="") == "/project/birds/"
    shown = (await served.client().page("/project/category/thinking/?orderby=created&desc=true")).json()["projects"]
    assert [(one["short_name"], one["description"]) for one in shown] == [("birds", "Is there a bird?")]
    with_body = await ada.request("GET", "/project/birds/settings", json={})
    assert with_body.json()["project"]["id"] == project["id"], "a GET with a body, as servers that render send it"
    assert await send("/project/birds/delete", form="") == "/account/ada/"
