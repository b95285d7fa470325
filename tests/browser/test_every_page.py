"""axe on every page that the server has, with its scripts: nothing in either theme, and nothing to scroll sideways.

tests/browser/test_accessibility.py looks at every state of every template, without scripts. Here are the routes, so that
a new page is looked at by itself, and what scripts make of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from support.servers.every_page import Site, every_page
from test_accessibility import AXE, RUN_IN

pytestmark = pytest.mark.browser
PATIENCE = 1800.0  # seconds: all pages in one test
READERS = ("owner", "admin", "anonymous", "stranger")
# What nobody gets as a page on this site, by the reason. Templates that need more are looked at by test_accessibility.py.
_FILES = (
    "/.well-known/security.txt", "/account/<name>/export/download",
    "/account/<name>/certificates/<int:certificate_id>/certificate.pdf", "/account/<name>/contributions/card.svg",
    "/account/<name>/groups/<int:group_id>/hours.csv",
    "/admin/users/export", "/project/<short_name>/blog/feed.atom", "/project/<short_name>/blog/feed.json",
    "/project/category/<category>/feed.atom", "/project/category/<category>/feed.json",
    "/project/<short_name>/<int:task_id>/results.json", "/project/<short_name>/share/poster.pdf",
    "/project/<short_name>/share/qr.png", "/project/<short_name>/share/qr.svg",
    "/project/<short_name>/tasks/import/<int:import_id>/errors", "/project/<short_name>/tasks/import/<int:import_id>/gone",
    "/app/worker.js", "/project/<short_name>/along", "/site.css", "/site.pmtiles", "/site.webmanifest",
)  # fmt: skip
_LEAD_ELSEWHERE = (
    "/admin/", "/github/oauth_authorized", "/google/oauth_authorized", "/help/api", "/orcid/oauth_authorized", "/project/",
)  # fmt: skip
_NEED_A_LINK = (
    "/account/confirm-email", "/account/first-admin", "/account/register/confirmation", "/account/reset-password",
    "/project/<short_name>/invitation", "/unsubscribe",
)  # fmt: skip
_NEED_A_CHOICE = (
    "/account/<name>/collections/add", "/project/<short_name>/tasks/<int:task_id>/answers/bar",
    "/project/<short_name>/tasks/<int:task_id>/answers/aside",
    "/project/<short_name>/tasks/<int:task_id>/answers/delete", "/project/<short_name>/tasks/gold/add",
)  # fmt: skip
_NEED_MORE = (
    "/account/signin/second",  # a password that was right
    "/group",  # a guest of a group; looked at by volunteers/test_class_room.py
    "/project/<short_name>/review/<int:task_id>",  # an answer field; looked at by owners/test_review.py
)
UNSEEN = {*_FILES, *_LEAD_ELSEWHERE, *_NEED_A_LINK, *_NEED_A_CHOICE, *_NEED_MORE}
_SCRIPTS = re.compile(r'<script[^>]* src="([^"?]+)')
_TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def site(postgres: Any, tmp_path_factory: Any) -> Iterator[Site]:
    with every_page(postgres, tmp_path_factory.mktemp("every-page")) as made:
        yield made


@pytest.fixture(scope="module")
def first_shown(site: Site) -> dict[str, tuple[str, str, str]]:
    """For each route that has a page: the first reader who gets it, its address, and its HTML."""
    asked, pages = site.connection(), dict[str, tuple[str, str, str]]()
    for route, address in site.addresses:
        for who in READERS:
            if route not in pages and (text := site.shown(asked, who, address)):
                pages[route] = who, address, text
    asked.close()
    return pages


@pytest.mark.proof
def test_every_page_is_shown_to_somebody_or_is_excused(
    site: Site, first_shown: dict[str, tuple[str, str, str]]
) -> None:
    unseen = {route for route, _ in site.addresses} - {*first_shown}
    assert unseen == UNSEEN, "\n".join(sorted(unseen ^ UNSEEN))


@pytest.mark.proof
@pytest.mark.parametrize("each_route", [False, True], ids=["scripts", "routes"])
def test_axe_finds_nothing(
    browser: Any, site: Site, first_shown: dict[str, tuple[str, str, str]], each_route: bool
) -> None:
    """On one page of those that have the same scripts, or on each page."""
    chosen = {
        route if each_route else frozenset(_SCRIPTS.findall(seen[2])): seen for route, seen in first_shown.items()
    }
    wrong = {}
    for who in READERS:
        context = browser.new_context(bypass_csp=True, reduced_motion="reduce", viewport={"width": 1280, "height": 800})
        context.set_default_timeout(60_000)  # a busy machine is no failure
        context.add_cookies([{"name": n, "value": value, "url": site.url} for n, value in site.cookies[who].items()])
        page = context.new_page()
        page.add_init_script(AXE)
        for address in sorted(address for reader, address, _ in chosen.values() if reader == who):
            if problems := faults(page, site.url + address):
                wrong[who, address] = problems
        context.close()
    assert wrong == {}


def faults(page: Any, url: str) -> list[str]:
    """What axe says in each theme at 1280 px, and whether a phone has to scroll sideways."""
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(url)
    page.wait_for_load_state("load")
    problems = []
    for theme, run in RUN_IN.items():
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        problems += [f"{theme}: {line}" for line in page.evaluate(run)]
    page.set_viewport_size({"width": 320, "height": 640})
    return problems + ["too wide"] * (page.evaluate(_TOO_WIDE) > 0)
