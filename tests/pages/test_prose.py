"""Texts in Markdown are laid out when they are written, within limits, and only looked up when they are read."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import pytest_twisted
from support.checks.dear_texts import DEAR, FINDING
from support.checks.shows import shows
from twisted.internet import reactor
from twisted.internet.defer import DeferredList, ensureDeferred
from twisted.internet.task import LoopingCall

from crowdd.core.text import markdown, markdown_limits, rendered_text
from crowdd.kernel.errors import InvalidValueError


async def one_text(served, person, text, **more):
    project = await served.project(person, **more)
    return project, await person.put(f"/api/project/{project['id']}", json={"long_description": text})


def is_text(answer, words):
    return (
        answer.status == 415
        and answer.json()["error_code"] == "text_too_costly"
        and words in answer.json()["exception_msg"]
    )


@shows("limit-markdown")
@pytest.mark.parametrize("name", DEAR)
def test_a_dear_text_is_refused_or_makes_little_html(name) -> None:
    """What it costs: bench/budgets/parts.py."""
    try:
        made = markdown.render(DEAR[name], 3)
    except InvalidValueError as error:
        made = SimpleNamespace(html="")
        assert str(error).startswith("The text ")
    assert len(made.html.encode()) <= markdown_limits.MAX_HTML_BYTES


def test_a_long_story_is_laid_out() -> None:
    story = (
        "Foxes *and* martens, [seen](https://a.example) at `night`.\n* one\n* two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
    ) * 100
    assert markdown.render(story, 3).html.count("<table>") == 100


@shows("limit-markdown")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x" * 50_001, "The text may have at most 50,000 characters (got 50,001)."),
        ("<i>" * 2_001, "The text may have at most 2,000 HTML tags (got 2,001)."),
        ("|a|b\n|-|-\n" + "x\n" * 1_000, "The text may have at most 2,000 table cells (got 3,006)."),
        (
            "[a]: http://x/" + "y" * 1000 + "\n\n" + "[a] " * 300,
            "The text may become at most 200 kB of HTML (got 304 kB).",
        ),
    ],
)
def test_a_refusal_says_which_limit_and_by_how_much(text, words) -> None:
    with pytest.raises(InvalidValueError) as refused:
        markdown.render(text, 3)
    assert str(refused.value) == words


def test_html_in_a_text_ends_with_its_paragraph() -> None:
    made = markdown.render("a <em>b <strong>c\n\nd\n\n<blockquote>e\n\nf <script>alert('<b>')</script> 3 < 4", 3).html
    assert made == (
        "<p>a <em>b <strong>c</strong></em></p>\n<p>d</p>\n<blockquote>e\n</blockquote><p>f  3 &lt; 4</p>\n"
    )


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_others_are_served_while_the_dearest_text_is_refused(served):
    ada = await served.person("ada")
    project = await served.project(ada)
    stranger, waits = served.client(), []

    async def look():
        began = reactor.seconds()
        await stranger.get("/health")
        waits.append(reactor.seconds() - began)

    looking = LoopingCall(lambda: ensureDeferred(look()))
    looking.start(0.1)
    at = f"/api/project/{project['id']}"
    began = reactor.seconds()
    assert is_text(await ada.put(at, json={"long_description": FINDING}), "50,000 characters (got ")
    assert reactor.seconds() - began < 0.5
    dear = [ada.put(at, json={"long_description": text}) for text in DEAR.values()]
    await DeferredList([ensureDeferred(each) for each in dear])
    looking.stop()
    assert max(waits) <= 0.5
    # A fast machine lays out the cheapest of them within the budget.
    assert (await ada.get(at)).json()["long_description"] in ("", *DEAR.values())


@pytest_twisted.ensureDeferred
async def test_only_who_may_write_has_a_text_laid_out(served, monkeypatch):
    laid = []
    monkeypatch.setattr(rendered_text.markdown, "render", lambda text, top: laid.append(text))
    ada, eve = await served.person("ada"), await served.person("eve")
    project = await served.project(ada, tasks=1, published=True)
    change = {"long_description": "# Hello"}
    for client in (eve, served.client()):
        assert (await client.put(f"/api/project/{project['id']}", json=change)).status in (401, 403)
        post = {"project_id": project["id"], "title": "t", "body": "b"}
        assert (await client.post("/api/blogpost", json=post)).status in (401, 403)
    assert laid == []


@pytest_twisted.ensureDeferred
async def test_reading_renders_nothing(served, monkeypatch):
    ada = await served.person("ada")
    project, done = await one_text(served, ada, "# Hello\n\n*foxes*", tasks=1, published=True)
    assert done.status == 200
    post = {"project_id": project["id"], "title": "News", "body": "# Title\n\nMany **foxes** & owls", "published": True}
    made = (await ada.post("/api/blogpost", json=post)).json()
    monkeypatch.setattr(rendered_text, "_rendered", None)
    reader = served.client()
    pages = {path: (await reader.get(f"/project/birds/{path}")).text for path in ("", "newtask", "blog", made["id"])}
    assert "<h3>Hello</h3>" in pages[""] and "<h3>Hello</h3>" in pages["newtask"]
    assert "Title Many foxes &amp; owls" in pages[""] and "Title Many foxes &amp; owls" in pages["blog"]
    assert "<h2>Title</h2>\n<p>Many <strong>foxes</strong> &amp; owls</p>" in pages[made["id"]]


@pytest_twisted.ensureDeferred
async def test_a_text_of_an_older_version_is_laid_out_once_for_many_readers(served, monkeypatch):
    ada = await served.person("ada")
    await one_text(served, ada, "# Hello", tasks=1, published=True)
    monkeypatch.setattr(rendered_text.markdown, "VERSION", -1)
    laid = []
    monkeypatch.setattr(rendered_text, "_rendered", lambda text, top: laid.append(text) or markdown.render(text, top))
    readers = [served.client().get("/project/birds/") for _ in range(5)]
    for _ok, page in await DeferredList([ensureDeferred(each) for each in readers]):
        assert "<h3>Hello</h3>" in page.text
    assert laid == ["# Hello"]


@pytest_twisted.ensureDeferred
async def test_a_text_that_is_too_dear_since_before_there_were_limits_is_shown_as_typed(served):
    ada = await served.person("ada")
    await served.project(ada, tasks=1, published=True)
    await served.database.execute("UPDATE project SET long_description = %(text)s", {"text": "<b>" + "[" * 900_000})
    page = await served.client().get("/project/birds/")
    assert page.status == 200 and "<pre>&lt;b&gt;[[[[" in page.text and len(page.body) < 100_000


@pytest_twisted.ensureDeferred
async def test_forms_show_the_limit_beside_the_field(served):
    ada = await served.person("ada")
    boss = await served.person("boss", admin=True)
    await served.project(ada)
    words = "The text may have at most 50,000 characters (got 60,000)."
    long = "x" * 60_000
    story = {"name": "Birds", "short_name": "birds", "description": "?", "long_description": long}
    refused = (await ada.send_form("/project/birds/update", story)).json()
    assert refused["form"]["errors"] == {"long_description": [words]}
    story |= {"name": "New", "short_name": "new-one"}
    assert (await ada.send_form("/project/new", story)).json()["form"]["errors"] == {"long_description": [words]}
    post = {"title": "t", "body": long}
    assert (await ada.send_form("/project/birds/new-blogpost", post)).json()["form"]["errors"] == {"body": [words]}
    assert (await boss.send_form("/admin/announcement/new", post)).json()["form"]["errors"] == {"body": [words]}


@pytest_twisted.ensureDeferred
async def test_html_that_nobody_reads_is_swept_and_made_again(served):
    ada = await served.person("ada")
    await one_text(served, ada, "# Hello", tasks=1, published=True)
    await served.database.execute("UPDATE rendered_text SET used = used - 31")
    assert await served.house.base.prose.sweep() == 1
    served.house.base.prose._remembered.clear()
    assert "<h3>Hello</h3>" in (await served.client().get("/project/birds/")).text
    assert await served.house.base.prose.sweep() == 0
