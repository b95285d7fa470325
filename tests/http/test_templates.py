"""Every page in every state: what it escapes, what it never contains, and that it can be used without script."""

from __future__ import annotations

import gettext
import json
import re
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime

import pytest
from jinja2 import UndefinedError
from support.checks.page_contexts import (
    EVIL,
    GALAXIES,
    ILSE,
    NIGHT,
    OTHERS,
    Case,
    LaidOut,
    frame,
    home,
    plain_cases,
    project,
    strange,
)
from support.checks.page_reader import Page, faults, inlined
from support.checks.shows import shows

from crowdd.core.text.markdown import to_html
from crowdd.http.html.filters import parse_time
from crowdd.http.html.rendering import Templates
from crowdd.http.html.static_files import StaticFiles
from crowdd.http.web import FeatureWeb, add_functions
from crowdd.kernel.languages import Languages
from crowdd.sched.registry import declared_classes

NOW = datetime(2025, 11, 20, 21, 50, tzinfo=UTC)
BASE = "https://crowdd.example"
EVERY = plain_cases()


def made(**more: object) -> Templates:
    """Templates at a fixed time."""
    templates = Templates(StaticFiles.read(), now=lambda: NOW, base_url=BASE, **more)  # type: ignore[arg-type]
    add_functions(templates, declared_classes(FeatureWeb, "web"))
    return templates


TEMPLATES = made()
OWN_SCRIPT = re.compile(
    r"/static/((builder|bundles|gallery|guides|presenter|results|review|tables|upload)/[a-z_]+|[a-z_]+|vendor/tus-js-client-[0-9.]+/tus\.min)\.js\?v=\w+"
)


def read(case: Case) -> Page:
    return Page(TEMPLATES.render(case.template, case.context))


def find(template: str, kind: str) -> Page:
    """The page of one case by its words."""
    return read(next(case for case in EVERY if (case.template, case.kind) == (template, kind)))


def by_template(chosen: Iterable[Case]) -> dict[str, list[Case]]:
    """Cases by their template: a test for each case would take longer to report than to run."""
    cases = defaultdict(list)
    for case in chosen:
        cases[case.template].append(case)
    return cases


CARD = "project/embed.html"  # stands in other sites: whole addresses, and no header
FURTHER = ("long words", "right to left")
BY_TEMPLATE = by_template(EVERY)


@pytest.mark.parametrize("template", BY_TEMPLATE)
def test_a_page_has_no_fault_and_what_people_write_is_only_ever_text(template: str) -> None:
    """In each state, and with hostile words in each. Long and Arabic words are read in the state with the most elements."""
    shown = [(case, read(case)) for case in BY_TEMPLATE[template]]
    fullest, _ = max(shown, key=lambda each: len(each[1].elements))
    for case, page in shown:
        assert wrong(case, page) == [], case.kind
        hostile = strange(case, "hostile")
        page = read(hostile)
        assert wrong(hostile, page) == [], hostile.kind
        assert_only_text(page, hostile.kind)
    for words in FURTHER:
        case = strange(fullest, words)
        assert wrong(case, read(case)) == [], case.kind


@pytest.mark.proof
@pytest.mark.size
def test_no_state_of_a_page_has_a_fault_with_long_or_arabic_words() -> None:
    for case in (strange(each, words) for each in EVERY for words in FURTHER):
        assert wrong(case, read(case)) == [], case[:2]


def wrong(case: Case, page: Page) -> list[str]:
    """What no page may have. The card stands in other sites: its addresses are whole."""
    return [] if case.template == CARD else faults(page) + too_many_main_actions(case, page)


def assert_only_text(page: Page, kind: str) -> None:
    """Nothing that hostile words hold has become a part of the page."""
    files = [script for script in page.all("script") if script.text not in inlined()]
    scripts = [script.get("src") for script in files if not OWN_SCRIPT.fullmatch(script.get("src"))]
    assert scripts == [], kind
    assert not [image for image in page.all("img") if image.get("src") in ("x", "")], kind
    headings = {element.text for element in page.all("h1", "h2", "h3")}
    assert "49" not in headings, f"{kind}: a name was run as a template"


def too_many_main_actions(case: Case, page: Page) -> list[str]:
    """Their words, where a page has more than one outside its dialogs."""
    mains = [it for it in page.all("a", "button") if {"btn", "main"} <= {*it.get("class").split()}]
    alone = [f"main action: {it.text}" for it in mains if not it.inside("dialog")]
    return alone if len(alone) > (5 if case.template == "about/design.html" else 1) else []


def test_every_template_has_a_case() -> None:
    """What others extend or import is seen with them; documents inside frames have tests of their own."""
    framework = {"base.html", "base_task.html", "parts.html", "icons.html", "table.html"}
    framework |= {"project/frame.html", "project/preview.html"}
    pages = {name for name in TEMPLATES.names() if "/_" not in name and not name.endswith("/frame.html")} - framework
    assert pages - {case.template for case in EVERY} == set()


def test_a_line_of_a_template_has_120_columns_at_most() -> None:
    environment = TEMPLATES.environment
    sources = {name: environment.loader.get_source(environment, name)[0] for name in TEMPLATES.names()}
    long = [
        f"{name}:{number} has {len(line)}"
        for name, source in sources.items()
        for number, line in enumerate(source.splitlines(), 1)
        if len(line) > 120
    ]
    assert long == []


def test_hostile_words_arrive_whole() -> None:
    page = read(strange(next(case for case in EVERY if case[:2] == ("home/index.html", "in use")), "hostile"))
    headings = [element.text for element in page.all("h3")]
    assert headings[:2] == [EVIL, EVIL]


def test_a_missing_name_is_an_error() -> None:
    context = frame() | home()
    del context["categories"]
    with pytest.raises(UndefinedError, match="categories"):
        TEMPLATES.render("home/index.html", context)


def test_the_home_page_shows_the_featured_question_and_no_project_twice() -> None:
    page = find("home/index.html", "in use")
    names = [element.text for element in page.all("h2", "h3")]
    assert names.count(GALAXIES["name"]) == 1
    assert names.count(NIGHT["name"]) == 1
    starts = [link.get("href") for link in page.all("a") if link.get("href").endswith("/newtask")]
    assert starts == ["/project/arms-of-distant-galaxies/newtask"]


def test_a_finished_project_is_not_the_question_of_the_home_page() -> None:
    context = frame() | home(featured=[GALAXIES | {"overall_progress": 100}], top_projects=[], categories_projects={})
    page = Page(TEMPLATES.render("home/index.html", context))
    assert not [element for element in page.all("article") if element.get("class") == "ask"]


def test_an_empty_site_offers_one_way_on() -> None:
    page = find("home/index.html", "no projects")
    buttons = [link for link in page.all("a") if "main" in link.get("class").split()]
    assert [(link.text, link.get("href")) for link in buttons] == [("Start a project", "/project/new")]


def test_pictures_come_from_this_server_or_are_drawn() -> None:
    for address, shown in {
        "/uploads/1/a.webp": "/uploads/1/a.webp",
        f"{BASE}/uploads/1/a.webp": "/uploads/1/a.webp",
        "https://spy.example/a.webp": None,
        f"{BASE}.spy.example/a.webp": None,
        "//spy.example/a.webp": None,
        "/\\spy.example/a.webp": None,
        "javascript:alert(1)": None,
        "data:image/svg+xml,<svg/>": None,
    }.items():
        featured = [project(9, "Owls", 20, 100, info={"thumbnail_url": address})]
        page = Page(TEMPLATES.render("home/index.html", frame() | home(featured=featured)))
        question = next(element for element in page.all("article") if element.get("class") == "ask")
        images = [image.get("src") for image in page.all("img") if question in image.parents]
        prints = [
            drawing for drawing in page.all("svg") if question in drawing.parents and drawing.get("class") == "print"
        ]
        assert (images, len(prints)) == (([shown], 0) if shown else ([], 1)), address


def test_only_an_owner_sees_the_tools_and_the_key() -> None:
    mine, theirs = (find("project/index.html", kind) for kind in ("owner", "visitor"))
    actions = {form.get("action") for form in mine.all("form")}
    assert "/project/who-walks-through-the-night-gate/pause" in actions
    assert [field.get("id") for field in mine.all("input") if field.get("readonly") is not None and field.get("id")]
    assert "secret" in find("project/settings.html", "published").ids()
    assert "secret" not in theirs.ids()
    assert not {form.get("action") for form in theirs.all("form")} - {"/preferences", "/account/signout"}


@pytest.mark.parametrize(("kind", "ready"), [("missing", False), ("ready", True), ("paused", True)])
def test_publishing_waits_for_a_presenter_and_a_task(kind: str, ready: bool) -> None:
    page = find("project/publish.html", kind)
    button = next(it for it in page.all("button") if "main" in it.get("class").split())
    assert ("disabled" not in button.attributes) is ready
    warned = "trial answers are deleted" in next(page.all("main")).text
    assert warned is (kind == "ready")


@pytest.mark.parametrize(
    ("kind", "lacking"), [("missing", ["tasks/taskpresentereditor", "tasks/import"]), ("ready", [])]
)
def test_the_list_before_publishing_says_what_is_missing_and_where_to_make_it(kind: str, lacking: list[str]) -> None:
    page = find("project/publish.html", kind)
    badges = [it for it in page.all("span") if "badge" in it.get("class").split()]
    steps = [next(it for it in badge.parents if it.tag == "li") for badge in badges if badge.text.strip() == "Missing"]
    links = [link.get("href") for link in page.all("a") if any(step in link.parents for step in steps)]
    assert [address.split("/", 3)[-1] for address in links] == lacking and len(badges) == (6 if lacking else 8)


def test_a_new_project_asks_for_three_things() -> None:
    page = find("project/new.html", "first")
    fields = [it.get("name") for it in page.all("input", "textarea", "select") if it.inside("main")]
    assert [name for name in fields if name != "csrf_token"] == ["name", "short_name", "description"]


def test_a_project_in_a_list_has_picture_sentence_and_progress() -> None:
    for template, kind in (("project/category.html", "full"), ("project/search.html", "found")):
        page = find(template, kind)
        cards = [it for it in page.all("article") if "card" in it.get("class").split()]
        assert len(cards) == 7, template
        for card, shown in zip(cards, [NIGHT, *OTHERS], strict=True):
            inside = [it for it in page.elements if card in it.parents]
            assert len([it for it in inside if "print" in it.get("class").split()]) == 1
            assert shown["description"] in {it.text for it in inside if it.tag == "p"}
            assert [it.get("value") for it in inside if it.tag == "progress"] == [str(shown["overall_progress"])]


@pytest.mark.parametrize(
    ("template", "kind", "heading", "way"),
    [
        ("home/index.html", "no projects", "No projects yet", "/project/new"),
        ("project/category.html", "empty", "Nothing here yet", "/project/category/all/"),
        ("project/category.html", "nothing at all", "Nothing here yet", "/project/new"),
        ("project/search.html", "nothing found", "Nothing found for “night gate”", "/project/category/all/"),
        ("project/tasks.html", "none", "No tasks yet", "/tasks/import"),
        ("project/browse.html", "none of that state", "No tasks in this state", "/tasks/browse"),
    ],
)
def test_what_is_empty_says_why_and_has_a_way_on(template: str, kind: str, heading: str, way: str) -> None:
    page = find(template, kind)
    empty = next(it for it in page.all("div") if it.get("class") == "empty")
    assert heading in {it.text for it in page.all("h2") if empty in it.parents}
    assert [it for it in page.all("a") if empty in it.parents and it.get("href").endswith(way)]


@pytest.mark.parametrize("code", [403, 404, 500])
def test_a_refusal_has_a_way_back_and_its_request(code: int) -> None:
    for page in (find(f"{code}.html", "stranger"), find("error.html", f"{code}, signed in")):
        main = next(page.all("main"))
        assert "9f3c-71aa" in main.text and str(code) in main.text
        assert "/" in {link.get("href") for link in page.all("a") if main in link.parents}


@shows("format-form")
def test_a_password_is_never_sent_back() -> None:
    typed = [case for case in EVERY if "hunter2" in str(case.context)]
    assert typed
    for case in typed:
        assert "hunter2" not in TEMPLATES.render(case.template, case.context)


def test_a_wrong_form_points_at_its_fields() -> None:
    page = find("account/register.html", "wrong")
    links = [link.get("href") for link in page.all("a") if link.get("href") in ("#email_addr", "#name")]
    assert sorted(links) == ["#email_addr", "#name"]
    field = next(it for it in page.all("input") if it.get("id") == "name")
    assert (field.get("aria-invalid"), field.get("aria-describedby")) == ("true", "name-hint name-error")
    focused = [it for it in page.all("div") if "autofocus" in it.attributes]
    assert [it.get("role") for it in focused] == ["alert"] and next(page.all("title")).text.startswith("Error: ")
    first = find("account/register.html", "first")
    assert not next(first.all("title")).text.startswith("Error") and not any(
        "autofocus" in it.attributes for it in first.all("div")
    )


def test_forms_of_a_view_carry_that_forms_token() -> None:
    page = find("account/signin.html", "first")
    form = next(it for it in page.all("form") if not it.get("action"))
    tokens = [it.get("value") for it in page.all("input") if form in it.parents and it.get("name") == "csrf_token"]
    assert tokens == ["form-t0ken"]


def test_only_configured_providers_are_offered() -> None:
    page = find("account/signin.html", "first")
    offered = {link.text for link in page.all("a")} & {"Google", "GitHub", "ORCID"}
    assert offered == {"Google", "GitHub"}


def test_theme_and_language_are_buttons_of_one_form() -> None:
    templates = made(languages=Languages({"ar": gettext.NullTranslations()}))
    page = Page(templates.render("error.html", frame(ILSE, "/x", theme="dark") | SAID))
    buttons = [button for button in page.all("button") if button.get("form") == "preferences"]
    assert [(button.get("name"), button.get("value")) for button in buttons] == [
        ("locale", "en"), ("locale", "ar"), ("theme", ""), ("theme", "light"), ("theme", "dark"),
    ]  # fmt: skip
    assert [button.get("value") for button in buttons if button.get("aria-current")] == ["en", "dark"]
    assert next(page.all("html")).get("data-theme") == "dark"


SAID = {"code": 404, "description": "404 Not Found", "request_id": "9f3c-71aa"}


def test_an_error_names_its_request_and_the_wait() -> None:
    page = find("error.html", "429, signed in")
    words = next(page.all("main")).text
    assert "9f3c-71aa" in words
    assert "2:40" in words


class Shouting(gettext.NullTranslations):
    """A language that is easily told apart."""

    def gettext(self, message: str) -> str:
        return message.upper() if "%" not in message else message

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return msgid1 if n == 1 else msgid2


def test_words_follow_the_locale_of_the_page_not_of_the_one_before() -> None:
    templates = made(languages=Languages({"xx": Shouting()}))
    titles = []
    for locale in ("xx", "en", "xx"):
        page = Page(templates.render("404.html", frame(locale=locale) | SAID))
        titles.append(next(page.all("h1")).text)
    assert titles == ["PAGE NOT FOUND", "Page not found", "PAGE NOT FOUND"]


def said(source: str, **context: object) -> str:
    """What a line of template says, by the real environment."""
    return TEMPLATES.environment.from_string(source).render(context)


@pytest.mark.parametrize(
    ("locale", "shown"),
    [("en", "1,234,567"), ("de", "1.234.567"), ("fr", "1\u202f234\u202f567"), ("ar", "1,234,567"), ("ja", "1,234,567")],
)
def test_thousands(locale: str, shown: str) -> None:
    assert said("{{ 1234567|thousands }}", locale=locale) == shown


@pytest.mark.parametrize(
    ("locale", "value", "shown"),
    [
        ("en", 0, "0 bytes"), ("en", 1, "1 byte"), ("en", 450, "450 bytes"), ("en", 999, "999 bytes"), ("en", 1000, "1 kB"),
        ("en", 1550, "1.6 kB"), ("en", 999_499, "999 kB"), ("en", 999_500, "1 MB"), ("en", 19_400_000, "19 MB"),
        ("en", 10**8, "100 MB"), ("en", 10**13, "10,000 GB"), ("de", 1_500_000, "1,5 MB"), ("fr", 10**8, "100\u202fMo"),
        ("ar", 450, "450 بايت"), ("ar", 10**8, "100 م.ب"),
    ],
)  # fmt: skip
def test_a_size_is_said_in_the_units_of_the_language(locale: str, value: int, shown: str) -> None:
    assert said("{{ value|size }}", locale=locale, value=value) == shown


def test_a_share_is_rounded_down_and_an_unknown_figure_is_a_dash() -> None:
    assert said("{{ 99.99|percent }} {{ 100|percent }} {{ none|percent }} {{ none|thousands }} {{ 0|percent }}") == (
        "99\u00a0% 100\u00a0% – – 0\u00a0%"
    )


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0\u00a0%"), (0.004, "<bdi>&lt; 1\u00a0%</bdi>"), (0.01, "1\u00a0%"), (0.255, "26\u00a0%"),
        (2 / 3, "67\u00a0%"), (0.29 + 0.01, "30\u00a0%"), (0.996, "<bdi>&gt; 99\u00a0%</bdi>"), (1, "100\u00a0%"),
    ],
)  # fmt: skip
def test_a_share_that_is_not_nothing_or_all_is_not_shown_so(value: float, shown: str) -> None:
    assert said("{{ value|share }}", value=value) == shown


@pytest.mark.parametrize(
    ("value", "shown"), [(0, "&lt; 1"), (0.5, "50"), (0.99, "99"), (0.9999, "&gt; 99"), (1, "&gt; 99")]
)
def test_nothing_is_shown_to_be_certain(value: float, shown: str) -> None:
    assert said("{{ value|probability }}", value=value).removeprefix("<bdi>").startswith(f"{shown}\u00a0%")


@pytest.mark.parametrize(
    ("maximum", "end"),
    [(0, 2), (1, 2), (2, 2), (2.1, 4), (5, 10), (11, 20), (39, 40), (41, 100), (1533, 2000), (4e6, 4e6)],
)
def test_a_chart_ends_at_a_round_figure(maximum: float, end: float) -> None:
    assert said("{{ maximum|roundup }}", maximum=maximum) == str(float(end))


def test_a_chart_is_as_high_as_its_figures_and_says_them_as_a_table() -> None:
    source = (
        '{% import "parts.html" as parts with context %}'
        '{{ parts.chart([["Mon", 50], ["Tue", 1500], ["<b>", 0]], "Answers", ["Day", "Answers"], now=true) }}'
    )
    page = Page(
        f"<html lang=en dir=ltr><title>t</title><main><h1>h</h1>{said(source, locale='de', path='/', csrf='x')}</main></html>"
    )
    assert faults(page) == []
    bars = [(bar.get("height"), bar.get("class")) for bar in page.all("rect")]
    assert bars == [("3.9", "bar"), ("117.0", "bar"), ("0.0", "bar now")]
    assert [cell.text for cell in page.all("td")] == ["50", "1.500", "0"]
    assert [cell.text for cell in page.all("th")][2:] == ["Mon", "Tue", "<b>"]


@pytest.mark.parametrize(
    ("time", "shown"),
    [
        ("2025-11-20T21:49:59.000000", "1 second ago"),
        ("2025-11-20T21:46:00.000000", "4 minutes ago"),
        ("2025-11-20T22:46:00+01:00", "4 minutes ago"),
        ("2025-11-19T21:50:00.000000", "1 day ago"),
        ("2024-05-02T08:00:00.000000", "2 May 2024"),
        ("2025-11-20T21:51:00.000000", "1 second ago"),
        ("2 hours ago", "2 hours ago"),
        (None, "–"),
    ],
)
def test_ago(time: str | None, shown: str) -> None:
    assert said("{{ time|ago }}", time=time) == shown


@pytest.mark.parametrize(
    ("time", "shown"),
    [
        ("2025-11-20T21:54:00.000000", "in 4 minutes"),
        ("2025-11-21T21:50:00.000000", "in 1 day"),
        ("2025-11-20T21:49:00.000000", "in 1 second"),
        ("2026-03-02T08:00:00.000000", "2 March 2026"),
        (None, "–"),
    ],
)
def test_until(time: str | None, shown: str) -> None:
    assert said("{{ time|until }}", time=time) == shown


@pytest.mark.parametrize(
    ("locale", "date", "ago"),
    [
        ("es", "2 de mayo de 2024", "hace 4 minutos"),
        ("fr", "2 mai 2024", "il y a 4 minutes"),
        ("de", "2. Mai 2024", "vor 4 Minuten"),
        ("ar", "2 مايو 2024", "قبل 4 دقائق"),
    ],
)
def test_times_are_told_in_the_language_of_the_page(locale: str, date: str, ago: str) -> None:
    assert said("{{ time|date }}", time="2024-05-02T08:00:00", locale=locale) == date
    assert said("{{ time|ago }}", time="2025-11-20T21:46:00", locale=locale) == ago


def test_times_without_a_zone_are_utc() -> None:
    assert parse_time("2025-11-20T21:50:00") == NOW
    assert parse_time(NOW.replace(tzinfo=None)) == NOW
    assert parse_time(17) is None


def test_markdown_keeps_the_text_and_drops_what_acts() -> None:
    text = (
        "# Title\n\n**bold** <script>alert(1)</script> <b onclick=x style=x id=main>b</b>\n\n"
        "![spy](https://spy.example/a.png) ![own](/uploads/project-1/a.png) ![act](/admin/users/add/7) ![too](/uploads/project-1/a.png?x=/../../admin) [run](javascript:alert(1)) [go](https://a.example)"
    )
    page = Page(
        f"<html lang=en dir=ltr><title>t</title><main><h1>h</h1><h2>h</h2>{said('{{ text|markdown }}', text=text, prose=LaidOut())}"
    )
    tags = [element.tag for element in page.elements]
    assert "h3" in tags
    assert "strong" in tags
    assert not {"script", "b"} & {*tags}
    assert [image.get("src") for image in page.all("img")] == ["/uploads/project-1/a.png"]
    links = {link.text: link.get("href") for link in page.all("a")}
    assert links["go"] == "https://a.example"
    assert "javascript" not in links.get("run", "")


def test_words_for_scripts_have_every_form_of_the_language() -> None:
    source = "{{ by_number('%(n)s answer', '%(n)s answers')|tojson }}|{{ by_number('%(n)s answer', '%(n)s answers')|for_number(1, n='1') }}"
    environment = made(languages=Languages.read()).environment
    english = environment.from_string(source).render(frame())
    forms, _, one = english.partition("|")
    assert (json.loads(forms), one) == ({"one": "{n} answer", "other": "{n} answers"}, "1 answer")
    arabic = environment.from_string(source).render(frame(locale="ar")).partition("|")[0]
    assert sorted(json.loads(arabic)) == ["few", "many", "one", "other", "two", "zero"]


@pytest.mark.parametrize(
    ("text", "tags"),
    [("## A\n\n# B\n\n### C\n\n# D", "3343"), ("# A\n\n## B\n\n### C", "345"), ("### A\n\n###### B\n\n## C", "343")],
)
def test_the_headings_of_a_text_skip_no_level(text: str, tags: str) -> None:
    assert "".join(re.findall(r"<h(\d)>", to_html(text))) == tags
