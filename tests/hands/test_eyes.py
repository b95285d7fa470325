"""What a robot presses is what is seen there."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from hands.eyes import Eyes
from hands.hand import Hand

pytestmark = pytest.mark.browser
ROW = """<div class="marks"><div class="marks-palette"><div style="display: flex; gap: 8px; overflow-x: auto; width: 300px">
    <button style="flex: none; width: 250px">Duck</button><button style="flex: none; width: 200px">Boat</button>
</div></div></div>"""


def test_what_is_cut_off_by_the_edge_of_a_row_is_brought_into_it(browser: Any) -> None:
    page = browser.new_page(viewport={"width": 600, "height": 300})
    page.set_content(ROW)
    eyes, boat = Eyes(page, Hand(page, Random(1), finger=False), Random(1)), page.get_by_role("button", name="Boat")
    hit = "([x, y]) => document.elementFromPoint(x, y).textContent"
    assert page.evaluate(hit, eyes.spot(boat)) != "Boat"
    assert page.evaluate(hit, eyes.bring(boat)) == "Boat"
    page.close()
