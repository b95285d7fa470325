"""Feeds of blogs and of new projects: what strangers may see, and nothing else."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
import pytest_twisted
from support.browsers import lock
from support.checks.shows import shows

NS = {"a": "http://www.w3.org/2005/Atom"}
BLOG, NEW = "/project/birds/blog/feed", "/project/category/all/feed"


async def written(owner, project, **post):
    """A post of the blog."""
    values = {"project_id": project["id"], "title": "News", "body": "*Good* news", "published": True, **post}
    return (await owner.post("/api/blogpost", json=values)).json()


def entries(document: str) -> list[dict[str, str]]:
    """The entries of an Atom feed, by the names of their parts."""
    feed = ElementTree.fromstring(document)
    assert feed.find("a:link[@rel='self']", NS) is not None
    return [{part.tag.partition("}")[2]: part.text or "" for part in entry} for entry in feed.findall("a:entry", NS)]


@shows("page-feeds")
@pytest_twisted.ensureDeferred
async def test_a_blog_is_a_feed_of_its_published_posts(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True)
    post = await written(owner, project, title="<b> & \u0434", body="*Good* news")
    await written(owner, project, title="A draft", published=False)
    for reader in (served.client(), owner):
        answer = await reader.get(f"{BLOG}.atom")
        assert answer.header("content-type") == "application/atom+xml; charset=utf-8"
        (entry,) = entries(answer.text)
        assert entry["title"] == "<b> & \u0434"
        assert entry["content"] == "<p><em>Good</em> news</p>\n"
        assert entry["id"].endswith(f"/project/birds/{post['id']}")
        assert entry["published"] == f"{post['created'][:19]}Z"
    (item,) = (await served.client().get(f"{BLOG}.json")).json()["items"]
    assert (item["title"], item["url"], item["content_html"]) == (entry["title"], entry["id"], entry["content"])


@shows("page-feeds")
@pytest_twisted.ensureDeferred
async def test_new_projects_are_a_feed_with_the_newest_first(served):
    owner = await served.person("owner")
    for name in ("first", "second", "draft"):
        await served.project(owner, name, tasks=1, published=name != "draft")
    assert [entry["title"] for entry in entries((await served.client().get(f"{NEW}.atom")).text)] == ["Second", "First"]
    feed = (await served.client().get(f"{NEW}.json")).json()
    assert [item["title"] for item in feed["items"]] == ["Second", "First"]


@pytest.mark.parametrize("kind", ["atom", "json"])
@pytest_twisted.ensureDeferred
async def test_what_strangers_may_not_see_has_no_feed(served, kind):
    owner = await served.person("owner")
    await served.project(owner, tasks=1)
    assert (await owner.get(f"{BLOG}.{kind}")).status == 404
    await owner.post("/project/birds/publish", json={})
    assert (await served.client().get(f"{BLOG}.{kind}")).status == 200
    await lock(served, "birds", owner, "sesame")
    assert (await owner.get(f"{BLOG}.{kind}")).status == 404
    for category in ("draft", "historical_contributions", "nowhere"):
        assert (await served.client().get(f"/project/category/{category}/feed.{kind}")).status == 404
