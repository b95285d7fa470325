"""What a page of a long list touches is the same at its beginning, in its middle and at its end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import pytest_twisted
from support.checks.explained import Explained

from crowdd.core.records.statements import Keyset
from crowdd.features.accounts import list_statements as account_list_statements
from crowdd.features.tasks import volunteer_statements

_ROWS = 20_000
_VOLUNTEERS = (
    "INSERT INTO volunteer (project_id, actor, runs)"
    " SELECT 1, CASE n %% 2 WHEN 0 THEN 'u:' ELSE 'c:' END || n, 1 + n %% 7 FROM generate_series(1, %(n)s) n",
    "INSERT INTO volunteer_word (project_id, actor, word) SELECT project_id, actor, substr(actor, 3) FROM volunteer",
    "ANALYZE volunteer, volunteer_word",
)
_PEOPLE = (
    "INSERT INTO account (created, name, fullname, email_addr, api_key_hash, api_key_encrypted)"
    " SELECT clock(), 'p' || n, 'Person', n || '@example.org', n::text::bytea, '' FROM generate_series(1, %(n)s) n",
    "TRUNCATE stat_delta",
    "INSERT INTO person_stat (user_id, runs, shown) SELECT id, id %% 100, true FROM account",
    "ANALYZE account, person_stat",
)


async def touched(pool: Any, read: Callable[[Any, Keyset], Awaitable[object]], *places: Keyset) -> list[int]:
    """The pages that each page of a list looks at, once the statement is known to PostgreSQL."""
    explained, pages = Explained(pool), []
    for place in (places[0], *places):
        await read(explained, place)
        pages.append(explained.pages)
    return pages[1:]


@pytest.mark.parametrize("known", [None, True])
@pytest_twisted.ensureDeferred
async def test_a_page_of_volunteers_costs_the_same_everywhere(pool, known):
    for sql in _VOLUNTEERS:
        await pool.execute(sql, {"n": _ROWS})
    rows = await pool.fetch(
        "SELECT substr(actor, 3) AS word FROM volunteer WHERE actor LIKE 'u:%%' ORDER BY runs DESC, actor", {}
    )
    words = [rows[nth]["word"] for nth in (0, len(rows) // 2, len(rows) - 60)]

    async def read(db: Any, place: Keyset) -> None:
        await volunteer_statements.listed(db, 1, place, known)

    both = [Keyset(before=word) for word in words] + [Keyset(after=word) for word in words]
    looked = await touched(pool, read, Keyset(), *both)
    assert max(looked) < 700, looked
    [far] = await touched(
        pool, lambda db, place: volunteer_statements.listed(db, 1, place, known, _ROWS // 2 - 100), Keyset()
    )
    assert far > 5 * max(looked), "what is passed over costs"


@pytest_twisted.ensureDeferred
async def test_a_page_of_people_costs_the_same_everywhere(pool):
    for sql in _PEOPLE:
        await pool.execute(sql, {"n": _ROWS})
    [ids] = await pool.fetch("SELECT array_agg(id ORDER BY id) AS ids FROM account")
    places = [Keyset(24), *(Keyset(24, before=ids["ids"][nth]) for nth in (_ROWS - 1, _ROWS // 2, 100))]
    looked = await touched(pool, account_list_statements.list_unblocked_accounts, *places)
    assert max(looked) < 200, looked

    async def listed(db: Any, place: Keyset) -> None:
        await account_list_statements.list_accounts(db, place, None)

    assert max(await touched(pool, listed, *places)) < 200
