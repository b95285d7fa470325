"""What errors of PostgreSQL mean to the rules: no value that somebody sends may look like a fault of ours."""

import pytest
import pytest_twisted

from crowdd.kernel.errors import ConflictError, InvalidValueError


@pytest_twisted.ensureDeferred
async def test_values_that_cannot_be_stored_are_invalid_values(pool):
    for sql, values in (
        ("SELECT 1 / %(n)s", {"n": 0}), ("SELECT %(n)s::int", {"n": 2**40}), ("SELECT %(n)s::bigint", {"n": 10**20}),
        ("SELECT %(n)s::jsonb", {"n": "{"}), ("SELECT %(n)s::timestamptz", {"n": "yesterdaze"}), ("SELECT %(n)s", {"n": "\x00"}),
        ("SELECT %(n)s", {"n": "\ud800"}), ("SELECT %(n)s", {"n": ["\x00"]}), ("SELECT exp(%(n)s::float8)", {"n": 1e6}),
        ("SELECT chr(%(n)s)", {"n": 2**31 - 1}), ("SELECT %(n)s::jsonb", {"n": '"\\u0000"'}),
    ):  # fmt: skip
        with pytest.raises(InvalidValueError) as error:
            await pool.fetch(sql, values)
        assert "SELECT" not in str(error.value) and "\x00" not in str(error.value)
    assert (await pool.fetch("SELECT 1 AS n")) == [{"n": 1}]


@pytest_twisted.ensureDeferred
async def test_a_row_that_others_need_is_a_conflict(pool):
    await pool.execute("CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE b (a int CONSTRAINT b_needs_a REFERENCES a)")
    await pool.execute("INSERT INTO a VALUES (1); INSERT INTO b VALUES (1)")
    for sql in ("DELETE FROM a", "INSERT INTO b VALUES (2)"):
        with pytest.raises(ConflictError) as error:
            await pool.execute(sql)
        assert error.value.constraint == "b_needs_a" and "b_needs_a" not in str(error.value)


@pytest_twisted.ensureDeferred
async def test_within_a_transaction_everything_is_undone(pool):
    await pool.execute("CREATE TABLE a (id int)")

    async def work(tx):
        await tx.execute("INSERT INTO a VALUES (1)")
        await tx.execute("INSERT INTO a VALUES (%(n)s)", {"n": 2**40})

    with pytest.raises(InvalidValueError):
        await pool.transaction(work)
    assert await pool.fetch("SELECT * FROM a") == []
    assert pool.figures().busy == 0
