"""What the site says about itself, in ours or in its operator's words, and the page of all parts."""

from __future__ import annotations

from pathlib import Path

import pytest
import pytest_twisted
from support.checks.page_reader import Page, faults
from support.checks.shows import shows

from crowdd.features.site.front_pages import ADDRESSES, OURS, SiteText, read_texts
from crowdd.kernel.languages import NAMES

HTML = {"Accept": "text/html"}


@shows("page-texts")
@pytest_twisted.ensureDeferred
async def test_every_text_is_there_for_people_and_for_programs(served):
    for address in ADDRESSES.values():
        answer = await served.client().page(address)
        assert answer.status == 200 and answer.json().keys() == {"template", "title", "content"}, address
        page = Page((await served.client().get(address, headers=HTML)).text)
        assert faults(page) == []
        assert next(page.all("h1")).text == answer.json()["title"]


@shows("page-texts")
@pytest_twisted.ensureDeferred
async def test_a_text_comes_in_the_language_of_its_reader(served):
    titles = {(await served.client(**{"Accept-Language": code}).page("/about")).json()["title"] for code in NAMES}
    assert len(titles) == len(NAMES)


@pytest.mark.parametrize("name", ADDRESSES)
def test_our_texts_are_in_every_language(name: str):
    versions = read_texts(name, [OURS / name])
    assert versions.keys() == NAMES.keys()
    assert all(text.title and len(text.content) > 100 for text in versions.values())
    shapes = {code: text.content.count("\n#") + text.content.startswith("#") for code, text in versions.items()}
    assert len({*shapes.values()}) == 1, shapes


@pytest_twisted.ensureDeferred
async def test_an_operators_own_texts_take_the_place_of_ours(serve, tmp_path: Path):
    (tmp_path / "about.md").write_text("# Our lab\n\nWe count **owls**. <script>alert(1)</script>")
    (tmp_path / "about.de.md").write_text("# Unser Labor\n\nEulen.")
    served = await serve(CROWDD_SITE_TEXTS=str(tmp_path))
    assert (await served.client().page("/about")).json()["title"] == "Our lab"
    html = (await served.client().get("/about", headers=HTML)).text
    assert "<strong>owls</strong>" in html and "alert(1)" not in html
    for code, title in (("de", "Unser Labor"), ("fr", "Our lab")):
        assert (await served.client(**{"Accept-Language": code}).page("/about")).json()["title"] == title
    assert (await served.client().page("/help/")).json()["title"] == "Help"


def test_the_first_line_is_the_heading(tmp_path: Path):
    (tmp_path / "x.md").write_text("\n#  Title \n\n# Part\n\nWords\n")
    assert SiteText.read(tmp_path / "x.md") == SiteText("Title", "# Part\n\nWords")


@pytest_twisted.ensureDeferred
async def test_the_page_of_all_parts_is_there_in_debug_mode_only(serve):
    ordinary, debug = await serve(), await serve(CROWDD_SITE_DEBUG="on")
    assert (await ordinary.client().get("/about/design", headers=HTML)).status == 404
    answer = await debug.client().get("/about/design", headers=HTML)
    assert answer.status == 200 and faults(Page(answer.text)) == []


@shows("page-texts")
@pytest_twisted.ensureDeferred
async def test_old_addresses_of_the_api_help_lead_to_its_page(served):
    answer = await served.client().get("/help/api", headers=HTML)
    assert (answer.status, answer.header("location")) == (302, "/api/docs")
