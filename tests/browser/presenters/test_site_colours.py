"""The colours of the site reach its pages and the frames of presenters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg2
import pytest

from crowdd.features.projects import starters

pytestmark = pytest.mark.browser
LIGHT, DARK = "#7a1f5c", "#ffb3e6"
_LINK = "getComputedStyle(document.documentElement).getPropertyValue('--link')"


@pytest.fixture
def boss(live_server: Any, new_person: Any) -> Iterator[Any]:
    """An administrator; afterwards the site has its own colours again."""
    person = new_person()
    with psycopg2.connect(live_server.dsn, options="-c search_path=public,code") as db, db.cursor() as cursor:
        cursor.execute("UPDATE account SET admin = true WHERE name = %s", (person.name,))
    yield person
    choose(person, "", "")
    with psycopg2.connect(live_server.dsn, options="-c search_path=public,code") as db, db.cursor() as cursor:
        cursor.execute("UPDATE account SET admin = false WHERE name = %s", (person.name,))


def choose(boss: Any, light: str, dark: str) -> None:
    form = {"accent_light": light, "accent_dark": dark}
    saved = boss.ask("POST", "/admin/site/look", form, X_CSRFToken=boss.csrf()).json
    assert saved["status"] == "success", saved


def test_an_accent_colours_the_page_and_the_frame_of_a_presenter(stage: Any, boss: Any) -> None:
    choose(boss, LIGHT, DARK)
    frame = stage.show(starters.source("picture"))
    page = stage.page
    for place in (page, frame):
        assert LIGHT in place.evaluate(_LINK)
    button = "getComputedStyle(Object.assign(document.body.appendChild(document.createElement('button')), {className: 'btn main'})).backgroundColor"
    assert frame.evaluate(button) == page.evaluate(button) == "rgb(122, 31, 92)"
    page.emulate_media(color_scheme="dark")
    assert frame.evaluate(button) == page.evaluate(button) == "rgb(255, 179, 230)"
    assert stage.console == []


@pytest.mark.proof
def test_without_an_accent_a_frame_loads_no_colours(stage: Any) -> None:
    frame = stage.show(starters.source("picture"))
    assert LIGHT not in frame.evaluate(_LINK)
    assert not [asked for asked in stage.asked() if asked.path.startswith("/site.css")]
