"""Pictures in the texts of a project: uploaded beside the editor, put in by a click, and named where they are left out."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import pytest
from PIL import Image
from support.checks.shows import shows

pytestmark = pytest.mark.browser


def drawn() -> dict[str, Any]:
    out = BytesIO()
    Image.new("RGB", (90, 60), (0, 0, 255)).save(out, "PNG")
    return {"name": "moth.png", "mimeType": "image/png", "buffer": out.getvalue()}


def upload(page: Any, file: dict[str, Any]) -> None:
    page.set_input_files("[data-pictures] input[type=file]", file)
    page.locator("[data-pictures]").get_by_role("button", name="Upload picture").click()


@shows("page-pictures")
def test_a_picture_is_uploaded_beside_the_story_and_put_into_it(stage: Any) -> None:
    page = stage.page
    stage.sign_in(stage.mine.owner)
    stage.go("/project/MINE/update")
    page.fill("[name=long_description]", "Before. After.")
    upload(page, {"name": "x.txt", "mimeType": "text/plain", "buffer": b"no picture"})
    page.locator("[data-said]", has_text="could not be uploaded").wait_for()
    upload(page, drawn())
    page.locator("[data-said]", has_text="The picture is uploaded.").wait_for()
    page.evaluate("document.getElementById('long_description').setSelectionRange(7, 7)")
    page.locator("[data-insert]").first.click()
    page.keyboard.type("A blue moth")  # over the words that were chosen
    text = page.input_value("[name=long_description]")
    path = text.partition("](")[2].partition(")")[0]
    assert text.startswith("Before.\n\n![A blue moth](/uploads/project-") and text.endswith(" After.")
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_url(f"**/project/{stage.mine.short_name}/")
    shown = page.locator(".prose img")
    assert (shown.get_attribute("src"), shown.get_attribute("alt")) == (path, "A blue moth")
    stage.until(lambda: shown.evaluate("image => image.naturalWidth") == 90)
    stage.go("/project/MINE/pictures")
    assert page.locator("li.mini").count() == 1 and "In the long description" in page.inner_text("li.mini")
    assert page.input_value("li.mini input") == f"![]({path})"
    page.get_by_role("button", name="Delete").click()
    page.locator(".flash", has_text="The picture is deleted.").wait_for()
    assert page.inner_text("section h3") == "No pictures yet"


@pytest.mark.proof
def test_pictures_that_are_not_shown_are_named_with_the_reason(stage: Any) -> None:
    page = stage.page
    stage.sign_in(stage.mine.owner)
    stage.go("/project/MINE/update")
    page.fill(
        "[name=long_description]",
        "![a](http://example.org/a.png) ![b](/static/b.png) <img src='data:image/png;base64,AAAA'> ![d](d.png)",
    )
    page.get_by_role("button", name="Save", exact=True).click()
    page.locator(".flash", has_text="4 pictures of the text are not shown").wait_for()
    stage.go("/project/MINE/update")
    lines = page.locator(".flash li").all_inner_texts()
    assert [line.split(" ")[0] for line in lines] == [
        "http://example.org/a.png", "/static/b.png", "data:image/png;base64,AAAA", "d.png",
    ]  # fmt: skip
    assert "another site" in lines[0] and "not an uploaded picture" in lines[1] and "not the address" in lines[3]
    stage.go("/project/MINE/new-blogpost")
    page.fill("[name=title]", "News")
    page.fill("[name=body]", "![a](http://example.org/a.png)")
    page.get_by_role("button", name="Save", exact=True).click()
    page.locator(".flash", has_text="One picture of the text is not shown").wait_for()


@shows("page-pictures")
def test_only_owners_see_the_pictures_page(stage: Any, new_person: Any) -> None:
    stage.sign_in(new_person())
    stage.go("/project/MINE/pictures")
    assert stage.page.locator("input[type=file]").count() == 0
    assert stage.page.get_by_role("heading", level=1).inner_text() != "Pictures"
