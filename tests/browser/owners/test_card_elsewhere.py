"""The card of a project in a page of another site, as the owner's page gives its HTML."""

from __future__ import annotations

from typing import Any

import pytest
from support.checks.proofs import examples
from test_accessibility import AXE, RUN_IN

pytestmark = pytest.mark.browser


def test_the_html_that_owners_copy_works_on_another_site(stage: Any, new_project: Any) -> None:
    project, page = new_project(tasks=2, n_answers=1), stage.page
    stage.mine = project
    page.context.add_cookies(project.owner.cookies(stage.witness.url))
    stage.go("/project/MINE/share")
    html = page.input_value("#embed").replace(page.input_value("#link").partition("/project/")[0], stage.witness.url)
    page.get_by_role("link", name="Preview of the card").click()
    assert page.get_by_role("heading").inner_text() == project.short_name
    page.goto(stage.elsewhere.url)
    page.set_content(html)
    card = page.frame_locator("iframe")
    assert card.get_by_role("heading", level=1).inner_text() == project.short_name
    assert card.get_by_text("0\u00a0% of the answers needed").is_visible()
    inside = page.frames[-1]
    assert inside.evaluate("document.documentElement.scrollHeight <= innerHeight")
    with page.context.expect_page() as opening:
        card.get_by_role("link", name="Take part").click()
    opening.value.wait_for_url(f"**/project/{project.short_name}/")
    assert opening.value.get_by_role("link", name="Start", exact=True).is_visible()
    assert opening.value.evaluate("opener") is None


def test_no_other_page_of_a_project_is_shown_there(stage: Any) -> None:
    page, at = stage.page, f"{stage.witness.url}/project/{stage.mine.short_name}"
    page.goto(stage.elsewhere.url)
    for address in (f"{at}/", f"{at}/newtask", f"{at}/newtask?_presenter"):
        page.set_content(f'<iframe src="{address}"></iframe>')
        assert stage.mine.short_name not in page.frames[-1].content(), address


@examples("dark")
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_on_the_card(stage: Any, theme: str) -> None:
    stage.page.emulate_media(color_scheme=theme)
    stage.go("/project/MINE/embed")
    stage.page.evaluate(AXE)
    assert stage.page.evaluate(RUN_IN[theme]) == []
