"""Our pages in Chromium: they fit a phone, ask nobody else, and what moves is only added to what works without."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from presenter_page import Person
from support.checks.page_contexts import ILSE, Case, frame, plain_cases, strange
from support.checks.page_reader import Page, faults
from support.checks.proofs import examples

pytestmark = pytest.mark.browser

# A state of each page, with the longest words.
ONCE = [strange(case, "long words") for case in {case.template: case for case in plain_cases()}.values()]
Show = Callable[..., Any]


def case_of(template: str, kind: str) -> Case:
    return next(case for case in plain_cases() if (case.template, case.kind) == (template, kind))


PARTS = case_of("about/design.html", "all parts")


TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
TOO_SMALL = """[...document.querySelectorAll('.btn, .icon, button, summary, input, select, textarea, .tabs a, .mast a')]
    .filter(e => !e.matches('[type=hidden], .check *') && e.offsetParent)
    .map(e => [e, e.getBoundingClientRect()])
    .filter(([_, {width, height}]) => Math.round(Math.min(width, height)) < 24)
    .map(([e, {width, height}]) => [e.outerHTML.slice(0, 80), Math.round(width), Math.round(height)])"""


# German words are the longest, English ones the shortest.
@pytest.mark.proof
@pytest.mark.parametrize(
    ("locale", "every_state"),
    [("en", False), ("de", False), ("de", True)],
    ids=["en", "de", "every state, de"],
)
def test_pages_fit_a_small_phone_and_what_can_be_touched_is_large_enough(
    opened: Any, locale: str, every_state: bool
) -> None:
    gallery = opened(viewport={"width": 320, "height": 640}, has_touch=True)
    gallery.show(PARTS)
    plain = plain_cases() if every_state else ()
    shown = [*plain, *(strange(case, "long words") for case in plain)] or ONCE
    spoken = (Case(case.template, case.kind, case.context | {"locale": locale}) for case in shown)
    wrong = {
        (case.template, case.kind): (over, small)
        for case, (over, small) in gallery.each(spoken, f"() => [{TOO_WIDE}, {TOO_SMALL}]")
        if over > 0 or small
    }
    assert wrong == {}


TWICE = f"""() => {{
    const window = {TOO_WIDE};
    document.documentElement.style.fontSize = '200%';  // only the letters, in the same window
    return [window, {TOO_WIDE}];
}}"""


@pytest.mark.proof
def test_pages_fit_at_twice_their_size(opened: Any) -> None:
    gallery = opened(viewport={"width": 640, "height": 400}, device_scale_factor=2)  # a window of 1280 by 800 at 200 %
    gallery.show(PARTS)
    wide = {(case.template, case.kind): excess for case, excess in gallery.each(ONCE, TWICE) if max(excess) > 0}
    assert wide == {}


@pytest.mark.proof
def test_no_page_asks_anybody_else_or_is_refused_anything(opened: Any) -> None:
    gallery = opened()
    for case in ONCE:
        gallery.show(case)
    assert gallery.wrong == []


def test_dark_is_chosen_without_a_new_page_and_sent_to_the_server(opened: Any) -> None:
    gallery = opened()
    page = gallery.show(case_of("project/index.html", "owner"))
    page.evaluate("window.same = true")
    page.click("summary[aria-label='Language and display']")
    with page.expect_response("**/preferences"):
        page.click("text=Dark")
    assert page.evaluate("[document.documentElement.dataset.theme, window.same]") == ["dark", True]
    assert page.get_attribute("button[value=dark]", "aria-current") == "true"
    assert page.get_attribute("button[value='']", "aria-current") is None
    [(path, body)] = gallery.posted
    assert path == "/preferences"
    assert {"theme=dark", "csrf_token=c5rf-t0ken"} <= {*body.split("&")}


def test_if_the_choice_cannot_be_sent_quietly_the_form_is_sent(opened: Any) -> None:
    gallery = opened()
    page = gallery.show(case_of("project/index.html", "owner"))
    refuse = lambda route: route.abort() if route.request.resource_type == "fetch" else route.fallback()  # noqa: E731
    page.route("**/preferences", refuse)
    page.click("summary[aria-label='Language and display']")
    with page.expect_navigation():
        page.click("text=Dark")
    [(path, body)] = gallery.posted
    assert (path, "theme=dark" in body.split("&")) == ("/preferences", True)


def test_without_script_menus_open_and_forms_are_sent(opened: Any) -> None:
    gallery = opened(java_script_enabled=False)
    page = gallery.show(case_of("account/profile.html", "in use"))
    page.click("text=Show the key")
    assert page.is_visible("#key")
    assert not page.is_visible("text=Copy")
    page.click("summary[aria-label='Language and display']")
    with page.expect_navigation():
        page.click("text=Light")
    assert [path for path, _ in gallery.posted] == ["/preferences"]
    page.click("summary[aria-label^='Your account']")
    with page.expect_navigation():
        page.click("text=Sign out")
    assert [path for path, _ in gallery.posted][1:] == ["/account/signout"]


def test_menus_close_by_escape_and_by_a_click_elsewhere(opened: Any) -> None:
    page = opened().show(case_of("project/index.html", "owner"))
    page.click("summary[aria-label^='Your account']")
    page.keyboard.press("Escape")
    assert page.locator("details.menu[open]").count() == 0
    assert page.evaluate("document.activeElement.getAttribute('aria-label')").startswith("Your account")
    page.click("summary[aria-label^='Your account']")
    page.click("h1")
    assert page.locator("details.menu[open]").count() == 0


def test_a_key_is_copied_and_the_button_says_so(opened: Any) -> None:
    gallery = opened(permissions=["clipboard-read", "clipboard-write"])
    page = gallery.show(case_of("project/index.html", "visitor"))
    page.click("text=Copy link")
    page.locator("[data-copy]:text-is('Copied')").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == page.input_value("#link")


@examples("rtl-ArrowLeft")
@pytest.mark.parametrize(("direction", "key"), [("ltr", "ArrowRight"), ("rtl", "ArrowLeft")])
def test_tabs_follow_the_arrows_in_reading_direction(opened: Any, direction: str, key: str) -> None:
    context = frame(ILSE, "/about/design", direction=direction)
    page = opened().show(Case("about/design.html", direction, context))
    page.focus("#t1")
    page.keyboard.press(key)
    assert page.evaluate("document.activeElement.id") == "t2"
    assert (page.is_visible("#p1"), page.is_visible("#p2")) == (False, True)


@examples("ar-rtl")
@pytest.mark.parametrize(("locale", "direction"), [("en", "ltr"), ("ar", "rtl")])
def test_the_open_tab_of_many_is_seen_and_the_page_begins_at_its_top(opened: Any, locale: str, direction: str) -> None:
    gallery = opened(viewport={"width": 360, "height": 640})
    for template, kind in (("admin/audit.html", "some"), ("project/index.html", "visitor")):
        case = case_of(template, kind)
        page = gallery.show(Case(template, kind, case.context | {"locale": locale, "direction": direction}))
        left, right = page.evaluate(
            "(r => [r.left, innerWidth - r.right])(document.querySelector('.tabs [aria-current]').getBoundingClientRect())"
        )
        assert left >= 0 and right >= 0, (template, left, right)
        assert page.evaluate("scrollY") == 0, template


def test_a_dialog_opens_and_gives_the_focus_back(opened: Any) -> None:
    page = opened().show(PARTS)
    page.click("text=Open a dialog")
    assert page.is_visible("#example")
    page.keyboard.press("Escape")
    assert not page.is_visible("#example")
    assert page.evaluate("document.activeElement.textContent") == "Open a dialog"


def test_the_wait_is_counted_down(opened: Any) -> None:
    gallery = opened()
    gallery.page.clock.install()
    page = gallery.show(case_of("error.html", "429, signed in"))
    page.clock.run_for(61_000)
    assert page.inner_text("[data-left]") == "1:39"
    page.clock.run_for(200_000)
    assert page.inner_text("[data-left]") == "0:00"


def test_the_server_keeps_the_choice(live_server: Any, browser: Any) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(live_server.url)
    for choice in ("Dark", "Light"):
        page.click("summary[aria-label='Language and display']")
        with page.expect_navigation():
            page.click(f"text={choice}")
        assert page.locator("html").get_attribute("data-theme") == choice.lower()
        assert page.url.rstrip("/") == live_server.url.rstrip("/")
    context.close()


def test_pages_of_the_running_server_have_no_fault_either(other_project: Any, live_server: Any) -> None:
    owner = other_project.owner
    visitor, project = Person(live_server.url), f"/project/{other_project.short_name}/"
    both = ["/", project, f"/account/{owner.name}/", "/nothing"]
    paths = {
        visitor: [*both, "/account/signin", "/account/register", f"{project}publish", f"{project}password"],
        owner: [*both, "/account/profile", f"/account/{owner.name}/resetapikey", f"{project}publish"],
    }
    page_faults: dict[tuple[str, str], list[str]] = {}
    for person, path in [(person, path) for person, asked in paths.items() for path in asked] * 2:  # made, and kept
        answer = person.ask("GET", path, Content_Type="text/plain", Accept="text/html")
        wrong = faults(Page(answer.text), answer.headers["Content-Security-Policy"])
        page_faults.setdefault((person.name, path), []).extend(wrong)
    assert {where: wrong for where, wrong in page_faults.items() if wrong} == {}


_TOUCHING = """[...document.querySelectorAll('.chart svg')].flatMap(chart => {
    const boxes = [...chart.querySelectorAll('text[text-anchor=middle]')].map(e => [e.textContent, e.getBoundingClientRect()]);
    return boxes.slice(1).map(([words, box], i) => [boxes[i][0], words, box.left - boxes[i][1].right]).filter(([,, gap]) => gap < 2);
})"""


def test_names_below_a_chart_do_not_touch_on_a_phone(opened: Any) -> None:
    gallery = opened(viewport={"width": 320, "height": 640})
    gallery.show(PARTS)
    touching = {}
    for template, kind in (("project/stats.html", "visitor"), ("admin/dashboard.html", "a week")):
        for locale in ("en", "es", "fr", "de", "ar"):
            page = gallery.swap(
                case_of(template, kind)._replace(context=case_of(template, kind).context | {"locale": locale})
            )
            assert page.locator(".chart svg").count() >= 2
            if overlaps := page.evaluate(_TOUCHING):
                touching[template, locale] = overlaps
    assert touching == {}
