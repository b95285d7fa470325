"""Every page for everybody: axe finds nothing, in either theme and in Arabic; and nothing that people wrote runs.

What colours an element has follows from the tags around it. Contrast is thus looked at once for each way to draw an
element, not once for each element: the frame of a page and the rows of a list are the same again and again. The other
rules look at one state of each page as a whole, and of its further states at the elements that are new with them. What
a page has to have as a whole is looked at in all states by tests/http/test_templates.py.
"""

from __future__ import annotations

import importlib.resources
import json
from typing import Any

import pytest
from support.checks.page_contexts import Case, plain_cases, strange
from support.checks.page_reader import inlined
from support.checks.proofs import examples

pytestmark = pytest.mark.browser

AXE = importlib.resources.files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
PLAIN = plain_cases()
RUN_AXE = """async (where, options) => (await axe.run(where, {resultTypes: ['violations'], ...options})).violations
    .map(v => v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160)).join(' | '))"""
COLOURS = {"runOnly": ["color-contrast", "link-in-text-block"]}
SHAPES = {"rules": {name: {"enabled": False} for name in COLOURS["runOnly"]}, "preload": False}

# Marks what is drawn as nothing before it. What rules of style ask for is compared: tags, attributes but for texts and
# addresses, what stands before an element, and whether it is the first or the last.
FRESH = """() => {
    const told = /^(href|src|srcset|value|name|for|id|title|alt|content|datetime|action|placeholder|aria-label|aria-labelledby|aria-describedby|d|points|x|y)$/;
    const tag = e => e ? e.localName + [...e.attributes].filter(a => !told.test(a.name)).map(a => ` ${a.name}=${a.value}`).sort().join('') : '';
    const known = new Map();
    const look = e => {
        if (e == document.body) return tag(e);
        if (!known.has(e)) known.set(e, `${look(e.parentElement)}>${tag(e.previousElementSibling)}+${tag(e)}${e.nextElementSibling ? '' : '$'}`);
        return known.get(e);
    };
    const seen = window.seenLooks ||= new Set();
    const drawn = e => [...e.childNodes].some(n => n.nodeType == 3 && n.data.trim()) || e.matches('input, select, textarea');
    window.fresh = [...document.querySelectorAll('body *')].filter(e => drawn(e) && !seen.has(look(e)) && seen.add(look(e)));
    return window.fresh.length;
}"""

# Marks what no page had before it, as rules that are not about style see it: tags with their attributes, in their parent.
NEW = """() => {
    const told = /^(href|src|srcset|value|name|for|id|title|alt|content|datetime|action|placeholder|aria-label|aria-labelledby|aria-describedby|aria-controls|d|points|x|y|width|height|class|data-.*)$/;
    const tag = e => e.localName + [...e.attributes].filter(a => !told.test(a.name)).map(a => ` ${a.name}=${a.value}`).sort().join('')
        + [...e.attributes].filter(a => told.test(a.name) && a.name != 'class').map(a => ` ${a.name}${a.value.trim() ? '' : '=none'}`).sort().join('');
    const named = e => e.textContent.trim() ? 'text' : 'empty';
    const seen = window.seenTags ||= new Set();
    const look = e => `${tag(e.parentElement)}>${tag(e)} ${named(e)} ${getComputedStyle(e).display == 'none'}`;
    return [...document.querySelectorAll('body *')].filter(e => !seen.has(look(e)) && seen.add(look(e)));
}"""

# What axe says against a whole document, with all rules.
RUN_ALL = f"() => ({RUN_AXE})(document, {{}})"
# What it says in each theme of the same document: in the second one only colours are others.
RUN_IN = {"light": RUN_ALL, "dark": f"() => ({RUN_AXE})(document, {json.dumps(COLOURS)})"}
# What axe says against the page that is shown, or against what is new on it; not about colours.
RUN_SHAPES = f"() => ({RUN_AXE})(document, {json.dumps(SHAPES)})"
RUN_NEW = (
    f"async () => {{ const fresh = ({NEW})(); return fresh.length ? ({RUN_AXE})(fresh, {json.dumps(SHAPES)}) : []; }}"
)


def run_colours(themes: list[str]) -> str:
    """What axe says against the colours of what is drawn as nothing before it, in these themes."""
    return f"""async () => {{
        const wrong = [];
        if (({FRESH})())
            for (const theme of {json.dumps(themes)}) {{
                document.documentElement.dataset.theme = theme;
                wrong.push(...(await ({RUN_AXE})(window.fresh, {json.dumps(COLOURS)})).map(line => `${{theme}}: ${{line}}`));
            }}
        return wrong;
    }}"""


FIRST = {case.template: case for case in reversed(PLAIN)}  # one case of each template


@pytest.fixture
def inspected(opened: Any) -> Any:
    """Makes a gallery whose page has axe."""

    def make(**options: Any) -> Any:
        gallery = opened(reduced_motion="reduce", **options)
        gallery.show(PLAIN[0]).evaluate(AXE)
        return gallery

    return make


# Both themes take their colours from one list. Each of our elements is looked at on the page that shows them all, and
# each page in make proofs.
@examples("elements")
@pytest.mark.parametrize(
    ("themes", "shown"),
    [
        (["light", "dark"], [FIRST["about/design.html"]]),
        (["light"], [*FIRST.values()]),
        (["dark"], [FIRST["about/design.html"]]),
        (["dark"], [*FIRST.values()]),
    ],
    ids=["elements", "light", "elements, dark", "dark"],
)
def test_axe_finds_no_colour_too_pale(inspected: Any, themes: list[str], shown: list[Case]) -> None:
    gallery = inspected(viewport={"width": 1280, "height": 800})
    light = (Case(case.template, case.kind, case.context | {"theme": "light"}) for case in shown)
    assert {case[:2]: wrong for case, wrong in gallery.each(light, run_colours(themes)) if wrong} == {}


@pytest.mark.proof
@pytest.mark.parametrize("further", [False, True], ids=["each page", "further states"])
def test_axe_finds_nothing_in_arabic_on_a_phone_and_nothing_is_too_wide(inspected: Any, further: bool) -> None:
    gallery = inspected(viewport={"width": 320, "height": 640})
    over = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    firsts = [*FIRST.values()]
    others = [case for case in PLAIN if not any(case is first for first in firsts)] if further else []
    for shown, run in ((firsts, RUN_SHAPES), (others, RUN_NEW)):
        arabic = (Case(case.template, case.kind, case.context | {"locale": "ar", "direction": "rtl"}) for case in shown)
        looked = gallery.each(arabic, f"async () => [await ({run})(), {over}]")
        assert {case[:2]: (violations, wide) for case, (violations, wide) in looked if violations or wide > 0} == {}


@pytest.mark.proof
def test_axe_would_find_something(inspected: Any) -> None:
    page = inspected().page
    page.evaluate(
        "document.querySelector('main').insertAdjacentHTML('beforeend', '<p class=soft><font color=#ccc>pale</font></p><img src=/x>')"
    )
    for run in (RUN_SHAPES, RUN_NEW):
        assert "image-alt" in {line.partition(":")[0] for line in page.evaluate(run)}
    assert page.evaluate(RUN_NEW) == []  # it was said once
    assert "color-contrast" in {line.partition(":")[0] for line in page.evaluate(RUN_IN["dark"])}
    colours = run_colours(["light"])
    pale = [line for line in page.evaluate(colours) if "pale" in line]
    assert len(pale) == 1 and "color-contrast" in pale[0] and page.evaluate(colours) == []


@pytest.mark.proof
def test_nothing_that_people_wrote_runs_even_without_the_policy(opened: Any) -> None:
    """What they wrote calls alert(); no policy stops it here, so that only the escaping does."""
    gallery = opened(guarded=False)
    fired: list[str] = []

    def heard(dialog: Any) -> None:
        if dialog.type == "beforeunload":  # a form that was refused: the page asks before its input is lost
            return dialog.accept()
        fired.append(gallery.page.url)
        return dialog.dismiss()

    gallery.page.on("dialog", heard)
    gallery.show(PLAIN[0])
    for case in (strange(last, "hostile") for last in {case.template: case for case in PLAIN}.values()):
        page = gallery.swap(case)  # handlers run; scripts do not, but are counted
        made = page.evaluate(
            "ours => [...document.querySelectorAll('script:not([src], [type=speculationrules]), [onerror], [onload], iframe:not(#presenter *, #tutorial *, #preview *)')]"
            ".filter((one) => !ours.includes(one.text)).length",
            [*inlined()],
        )
        assert made == 0, (case.template, case.kind)
    assert fired == []


def test_the_canary_would_fire(opened: Any) -> None:
    gallery = opened(guarded=False)
    fired: list[str] = []
    gallery.page.on("dialog", lambda dialog: (fired.append(dialog.message), dialog.dismiss()))
    page = gallery.show(strange(PLAIN[0], "hostile"))
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=/nothing onerror=alert(2)>')")
    page.evaluate("document.querySelector('[onerror]').onerror()")
    assert fired == ["2"]
