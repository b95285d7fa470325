"""Lists of accounts touch the rows that they show, however many accounts there are."""

from __future__ import annotations

import pytest
import pytest_twisted
from support.checks.explained import Explained

from crowdd.core.records.statements import Keyset
from crowdd.features.accounts import list_statements as account_list_statements

ACCOUNTS = 20_000
MAX_PAGES = 100
NINTH = "45c48cce2e2d7fbdea1afc51c7c6ad26"  # md5 of 9
FILL = """
ALTER TABLE account DISABLE TRIGGER USER;
INSERT INTO account (created, name, fullname, email_addr, api_key_hash, api_key_encrypted)
SELECT now(), 'n' || md5(i::text), 'Ann Miller', 'u' || md5('e' || i) || '@example.org', decode(md5(i::text), 'hex'), ''
  FROM generate_series(1, {accounts}) i;
ALTER TABLE account ENABLE TRIGGER USER;
INSERT INTO person_stat (user_id, runs, shown) SELECT id, 1, true FROM account ON CONFLICT DO NOTHING;
ANALYZE account, person_stat
"""


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_lists_of_accounts_touch_few_pages(served):
    for statement in FILL.format(accounts=ACCOUNTS).split(";"):
        await served.database.execute(statement)
    explained = Explained(served.database)
    for listing in (
        account_list_statements.list_accounts(explained, Keyset(size=10), None),
        account_list_statements.list_unblocked_accounts(explained, Keyset(size=10)),
    ):
        await listing
        assert 0 < explained.pages < MAX_PAGES, listing.__qualname__
    (row,) = await account_list_statements.search_account_rows(served.database, NINTH[:20], 50)
    assert row["name"] == f"n{NINTH}" and row["n_answers"] == 1
