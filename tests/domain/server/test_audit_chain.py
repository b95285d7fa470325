"""The chain of the audit log: it holds through late commits, deleted accounts and old rows; any other change is found."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import pytest_twisted
from support.ledger import Ledger, Meanwhile

from crowdd.core import audit_statements, log_statements
from crowdd.core.audit_chain import AuditChain, sentence
from crowdd.features.operations.feature import OperationsFeature
from crowdd.features.people import personal_data_statements
from crowdd.kernel.errors import CrowddError
from crowdd.kernel.requester import Requester

ADA = Requester(user_id=7, user_name="ada", via="web", network="10.0.0.0")
ROWS = 7
# What each statement does to the past, and what is found of it: (position, reason). Row ids are positions here.
TAMPERING: dict[str, tuple[int, str]] = {
    "UPDATE audit SET action = 'delete' WHERE id = 3": (3, "changed"),
    "UPDATE audit SET at = at - interval '1 second' WHERE id = 3": (3, "changed"),
    "UPDATE audit SET project_id = NULL WHERE id = 5": (5, "changed"),
    "UPDATE audit SET object_id = 9 WHERE id = 7": (7, "changed"),
    "UPDATE audit SET user_name = 'eve' WHERE id = 2": (2, "personal"),
    "UPDATE audit SET user_id = 8 WHERE id = 2": (2, "personal"),
    "UPDATE audit SET user_id = NULL, user_name = '' WHERE id = 2": (2, "personal"),
    "UPDATE audit SET network = '10.9.0.0' WHERE id = 4": (4, "personal"),
    "UPDATE audit SET after = '\"other\"' WHERE id = 4": (4, "personal"),
    "UPDATE audit SET before = NULL, after = NULL WHERE id = 4": (4, "personal"),
    "UPDATE audit SET after = '\"other\"', values_salt = NULL WHERE id = 4": (4, "personal"),
    "UPDATE audit SET after = '\"other\"', values_hash = salted(values_salt, '[null, \"other\"]') WHERE id = 4": (
        4,
        "changed",
    ),
    "DELETE FROM audit WHERE id = 1": (1, "missing"),
    "DELETE FROM audit WHERE id = 4": (4, "missing"),
    "DELETE FROM audit WHERE id = 7": (7, "missing"),
    "DELETE FROM audit": (1, "missing"),
    "UPDATE audit SET position = position + 1000 WHERE id = 6": (6, "missing"),
    "WITH a AS (UPDATE audit SET position = -position WHERE id IN (2, 3) RETURNING 1) SELECT FROM a": (1, "missing"),
    "UPDATE audit_chain SET hash = '\\x00', position = 7": (8, "missing"),
    "UPDATE audit_chain SET begin_position = 2": (3, "missing"),
}


@pytest.fixture
def ledger(dsn: str) -> Any:
    made = Ledger(dsn)
    yield made
    made.close()


@pytest.fixture
def chain(house: Any) -> AuditChain:
    return house.base.audit_chain


async def acts(db: Any, n: int = ROWS) -> None:
    for number in range(1, n + 1):
        await log_statements.write_act(
            db, ADA, "update", "project", number, project_id=1, attribute="name", before=None, after=f"name {number}"
        )


@pytest_twisted.ensureDeferred
async def test_rows_are_chained_once_and_the_head_moves(house, chain, ledger):
    assert await chain.head() == {"position": 0, "hash": "", "key": chain.key_id}
    await acts(house.base.db)
    assert await chain.extend() == ROWS
    first = await chain.head()
    assert (first["position"], len(first["hash"])) == (ROWS, 64)
    assert await chain.extend() == 0
    assert await chain.head() == first
    await log_statements.write_acts(house.base.db, ADA, "delete", "task", range(1, 3))
    second = await chain.head()
    assert second["position"] == ROWS + 2 and second["hash"] != first["hash"]
    assert await chain.verify() is None
    assert ledger.value("SELECT count(DISTINCT hash) FROM audit") == ROWS + 2
    assert ledger.value(
        "SELECT count(DISTINCT s) FROM audit, unnest(ARRAY[who_salt, origin_salt, values_salt]) s"
    ) == 3 * (ROWS + 2)


@pytest_twisted.ensureDeferred
async def test_more_rows_than_one_step_takes_are_chained(house, chain, ledger, monkeypatch):
    monkeypatch.setattr(audit_statements, "BITE", 3)
    await acts(house.base.db)
    assert await chain.extend() == ROWS
    assert [row["id"] for row in ledger.rows("SELECT id FROM audit ORDER BY position")] == [*range(1, ROWS + 1)]
    assert await chain.verify() is None


@pytest_twisted.ensureDeferred
async def test_every_change_of_the_past_is_found_at_its_place(house, chain, ledger):
    await acts(house.base.db)
    await chain.extend()
    ledger.run("CREATE TABLE was AS TABLE audit; CREATE TABLE chain_was AS TABLE audit_chain")
    try:
        misfits = {}
        for statement in TAMPERING:
            ledger.run(statement)
            misfit = await chain.verify()
            misfits[statement] = None if misfit is None else (misfit["position"], misfit["reason"])
            columns = ledger.value(
                "SELECT string_agg(quote_ident(column_name), ', ') FROM information_schema.columns WHERE table_name = 'was'"
            )
            ledger.run("DELETE FROM audit; DELETE FROM audit_chain; INSERT INTO audit_chain TABLE chain_was")
            ledger.run(f"INSERT INTO audit ({columns}) OVERRIDING SYSTEM VALUE SELECT {columns} FROM was")
            assert await chain.verify() is None
        expected = dict(TAMPERING)
        negative = next(statement for statement in TAMPERING if "-position" in statement)
        expected[negative] = (1, "missing")
        assert misfits == expected
    finally:
        ledger.run("DROP TABLE was, chain_was")


@pytest_twisted.ensureDeferred
async def test_a_row_added_to_the_past_is_found(house, chain, ledger):
    await acts(house.base.db)
    await chain.extend()
    insert = "INSERT INTO audit (id, at, user_name, via, action, kind, position, hash, who_hash, origin_hash, values_hash) OVERRIDING SYSTEM VALUE"
    copied = "SELECT 100, at, user_name, via, action, kind, 8, hash, who_hash, origin_hash, values_hash FROM audit WHERE id = 7"
    ledger.run(f"{insert} {copied}")
    misfit = await chain.verify()
    assert misfit == {"id": 100, "position": 8, "reason": "changed"}
    assert sentence(misfit) == "audit log at position 8, row 100: the row was changed, or it was added later"
    ledger.run("DELETE FROM audit WHERE id = 100")
    # Without a place in the chain it gets the next one, and is older than the rows before it.
    ledger.run(
        "INSERT INTO audit (at, user_name, via, action, kind) SELECT at - interval '2 hours', '', 'web', 'x', 'y' FROM audit WHERE id = 2"
    )
    assert await chain.extend() == 1
    misfit = await chain.verify()
    assert misfit is not None and (misfit["position"], misfit["reason"]) == (8, "late")


@pytest_twisted.ensureDeferred
async def test_nobody_without_the_key_makes_another_chain(house, chain, ledger):
    await acts(house.base.db)
    await chain.extend()
    ledger.run("UPDATE audit SET action = 'other' WHERE id = 3; SELECT restart_audit_chain()")
    ledger.run("SELECT chain_audit('\\x00'::bytea, 100)")
    assert await chain.verify() == {"id": 1, "position": 1, "reason": "changed"}


@pytest_twisted.ensureDeferred
async def test_a_row_that_commits_late_is_chained_later_and_nothing_waits(house, chain, dsn):
    beside = Ledger(dsn, autocommit=False)
    try:
        beside.run("INSERT INTO audit (at, user_name, via, action, kind) VALUES (clock(), 'late', 'web', 'x', 'y')")
        await acts(house.base.db, 2)
        assert await chain.extend() == 2
        beside.connection.commit()
        assert await chain.extend() == 1
        assert await chain.verify() is None
        ids = [row["id"] for row in await house.base.db.fetch("SELECT id FROM audit ORDER BY position")]
        assert ids == [2, 3, 1]
    finally:
        beside.close()


@pytest_twisted.ensureDeferred
async def test_two_that_chain_at_once_make_one_chain(house, chain, dsn):
    await acts(house.base.db, 40)
    first, second = Ledger(dsn, autocommit=False), Ledger(dsn)
    try:
        key = house.base.secrets.key("chain of the audit log")
        assert first.value("SELECT chain_audit(%(key)s, 7)", key=key) == 7  # not committed yet
        other = Meanwhile(second.value, "SELECT chain_audit(%(key)s, 7)", key=key)
        first.connection.commit()
        assert other.result() == 7
    finally:
        first.close()
        second.close()
    assert await chain.extend() == 26
    assert await chain.verify() is None


@pytest_twisted.ensureDeferred
async def test_a_deleted_account_leaves_the_chain_whole(house, chain, ledger):
    ada = ledger.value(
        "INSERT INTO account (created, name, fullname, email_addr, api_key_hash, api_key_encrypted)"
        " VALUES (clock(), 'ada', 'Ada L', 'ada@example.org', '\\x01', '\\x01') RETURNING id"
    )
    await acts(house.base.db, 2)
    await log_statements.write_act(
        house.base.db, Requester(user_id=ada, user_name="ada", via="web"), "update", "user", ada, after="x"
    )
    await log_statements.write_act(house.base.db, ADA, "add_coowner", "project", 1, after={"name": "Ada L"})
    await chain.extend()
    await house.base.db.transaction(lambda tx: personal_data_statements.remove(tx, ada, b""))
    left = ledger.rows(
        "SELECT user_id, user_name, before, after, who_salt IS NULL AS who, values_salt IS NULL AS of_values FROM audit ORDER BY id"
    )
    assert all(row["who"] and row["user_name"] == "" for row in left[2:3])
    assert left[3]["of_values"] and left[3]["after"] is None
    assert not left[0]["of_values"]
    await log_statements.write_act(house.base.db, ADA, "update", "project", 1)
    assert await chain.extend() == 1
    assert await chain.verify() is None
    ledger.run("UPDATE audit SET user_name = 'bob' WHERE id = 3")
    assert await chain.verify() == {"id": 3, "position": 3, "reason": "personal"}


@pytest_twisted.ensureDeferred
async def test_old_rows_go_from_the_beginning_and_what_stays_holds(house, chain, ledger, monkeypatch):
    monkeypatch.setattr(audit_statements, "BITE", 2)
    await acts(house.base.db)
    await chain.extend()
    head = await chain.head()
    days = house.base.settings.retention.audit_days
    ledger.run("UPDATE clock_shift SET ahead = %(ahead)s", ahead=timedelta(days=days - 1))
    await acts(house.base.db, 2)
    assert (await house[OperationsFeature].retention.sweep())["acts"] == 0
    ledger.run("UPDATE clock_shift SET ahead = %(ahead)s", ahead=timedelta(days=days + 1))
    await chain.extend()
    assert (await house[OperationsFeature].retention.sweep())["acts"] == ROWS
    assert await chain.verify() is None
    chain_row = ledger.row("SELECT begin_position, encode(begin_hash, 'hex') AS begin_hash FROM audit_chain")
    assert chain_row == {"begin_position": ROWS, "begin_hash": head["hash"]}
    ledger.run("DELETE FROM audit WHERE position = 8")
    assert await chain.verify() == {"id": None, "position": 8, "reason": "missing"}


@pytest_twisted.ensureDeferred
async def test_a_failed_transaction_leaves_no_link(house, chain):
    async def work(tx: Any) -> None:
        await log_statements.write_act(tx, ADA, "update", "project", 1)
        raise CrowddError("no")

    with pytest.raises(CrowddError):
        await house.base.db.transaction(work)
    await acts(house.base.db, 1)
    assert await chain.extend() == 1
    assert (await chain.head())["position"] == 1
    assert await chain.verify() is None


@pytest_twisted.ensureDeferred
async def test_a_head_that_was_noted_elsewhere_shows_what_the_chain_itself_does_not(house, chain, ledger):
    empty = await chain.head()
    await acts(house.base.db)
    before = await chain.head()
    await acts(house.base.db, 2)
    after = await chain.head()
    assert [await chain.holds(head) for head in (empty, before, after)] == [True, True, True]
    # The newest rows are removed, and the end of the chain is set back: the chain itself holds.
    await house.base.db.execute("DELETE FROM audit WHERE position > 7")
    await house.base.db.execute(
        "UPDATE audit_chain SET position = 7, hash = (SELECT hash FROM audit WHERE position = 7)"
    )
    assert await chain.verify() is None
    assert [await chain.holds(head) for head in (empty, before, after)] == [True, True, False]
    # Others take their place.
    await acts(house.base.db, 2)
    await chain.extend()
    assert await chain.verify() is None and not await chain.holds(after)
    # Old rows are removed by age, and another key begins another chain: then nothing can be said.
    await house.base.db.execute(
        "WITH c AS (UPDATE audit_chain SET begin_position = 8, begin_hash = (SELECT hash FROM audit WHERE position = 8))"
        " DELETE FROM audit WHERE position <= 8"
    )
    assert await chain.holds(before)
    assert await chain.holds({**after, "key": "another key"})
