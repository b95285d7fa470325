"""Pages of long lists: each row is on one page, in both directions, and no page reads more than its rows."""

from __future__ import annotations

import pytest

from crowdd.core.records.statements import Keyset

KEYS = ("id",)


def read(place, ids):
    """What a database answers: the ids beside the one that is named, in the order of the place."""
    row = place.row
    matching = [one for one in ids if row is None or (one < row if place.reads_down else one > row)]
    return place.part(sorted(matching, reverse=place.reads_down)[: place.size + 1])


@pytest.mark.parametrize("descending", [True, False])
def test_every_row_is_on_one_page_there_and_back(descending):
    ids = range(1, 12)
    expected = sorted(ids, reverse=descending)
    forward, back = ("before", "after") if descending else ("after", "before")
    place, pages = Keyset(4, descending=descending), []
    while True:
        part = read(place, ids)
        pages.append(part.rows)
        if not part.next:
            break
        place = Keyset(4, descending=descending, **{forward: part.rows[-1]})
    assert [row for page in pages for row in page] == expected and [len(page) for page in pages] == [4, 4, 3]
    part = read(Keyset(4, descending=descending, **{back: pages[2][0]}), ids)
    assert (part.rows, part.previous, part.next) == (pages[1], True, True)
    part = read(Keyset(4, descending=descending, **{back: pages[1][0]}), ids)
    assert (part.rows, part.previous, part.next) == (pages[0], False, True)


def test_the_first_page_has_nothing_before_it_and_a_short_list_nothing_after():
    part = read(Keyset(4), [1, 2, 3, 4])
    assert (part.rows, part.previous, part.next) == ([4, 3, 2, 1], False, False)
    assert read(Keyset(4), [1, 2, 3, 4, 5]).next


def test_the_condition_compares_the_columns_of_the_index():
    assert Keyset().beside("t", "id", KEYS) == "true"
    assert Keyset(before=3).beside("t", "id", KEYS) == "id < %(place)s"
    named = Keyset(after=3).beside("t", "id", ("lower(name)", "id"))
    assert named == "(lower(name), id) > (SELECT lower(name), id FROM t WHERE id = %(place)s)"
    assert Keyset(after=3).limited(("a", "id")) == "ORDER BY a ASC, id ASC LIMIT %(place_limit)s"
