"""Skeletons of names: what looks alike has the same one, names that were there before are kept, and no two are made."""

from __future__ import annotations

import unicodedata

import psycopg2
import pytest
import pytest_twisted

from bench.release import confusables
from crowdd.database import schema

FILE = schema.HERE / "schema" / "02_confusables.sql"


@pytest.fixture(scope="module")
def table():
    """The table of Unicode, as it is kept."""
    return confusables.prototypes(confusables.published())


@pytest_twisted.ensureDeferred
async def test_the_database_has_what_the_table_of_unicode_gives(pool, table):
    """A later Python knows more small letters, so that it would give more."""
    (row,) = await pool.fetch("SELECT confusables() AS alike")
    wanted = confusables.skeletons(table)
    assert row["alike"].items() <= wanted.items() and len(row["alike"]) > 3000
    alone = {each for each in table if unicodedata.normalize("NFKD", each) == each}
    assert {each for each in alone if wanted.get(each, each) != row["alike"].get(each, each)} == set()
    if unicodedata.unidata_version == "14.0.0":
        assert FILE.read_text("utf-8") == confusables.function(wanted), "run python -m bench.release.confusables"


def test_another_table_is_refused(monkeypatch):
    monkeypatch.setattr(confusables, "SHA256", "0" * 64)
    with pytest.raises(Exception, match="must have the SHA-256"):
        confusables.published()


@pytest.mark.parametrize(
    ("name", "others"),
    [
        ("mara", ["rnara", "MARA", "mаrа", "МАRА", "ｍａｒａ", "ma\u200bra", "mara\u202e", " mara ", "m\u00adara", "𝐦𝐚𝐫𝐚"]),
        ("bill0", ["bіІІO", "bi11o", "bilІ𝟎"]),
        ("naïve", ["nai\u0308ve"]),
        ("No 2", ["№ ²", "Nо ②"]),
        ("Map 10", ["Map  lO", "Map\u00a010"]),
    ],
)  # fmt: skip
@pytest_twisted.ensureDeferred
async def test_what_looks_alike_has_the_same_skeleton(pool, name, others):
    rows = await pool.fetch("SELECT skeleton(n) AS look FROM unnest(%(names)s) n", {"names": [name, *others]})
    assert len({row["look"] for row in rows}) == 1, rows


@pytest_twisted.ensureDeferred
async def test_what_looks_different_has_another_skeleton(pool):
    names = [
        *(chr(code) for code in range(ord("a"), ord("z") + 1) if chr(code) != "m"), *"2345678", "mara", "mira", "maria", "ада",
        "é", "ñ", "王", "芳", "이준", "ä", "map-1", "map_1", "map1", "map 1",
    ]  # fmt: skip
    rows = await pool.fetch("SELECT skeleton(n) AS look FROM unnest(%(names)s) n", {"names": names})
    assert len({row["look"] for row in rows}) == len(names)
    (row,) = await pool.fetch(
        "SELECT skeleton(NULL) AS nothing, skeleton('') AS empty, skeleton(%(z)s) AS unseen", {"z": "\u200b"}
    )
    assert (row["nothing"], row["empty"], row["unseen"]) == (None, "", "")


ACCOUNT = (
    "INSERT INTO account (created, name, fullname, email_addr, api_key_hash, api_key_encrypted)"
    " VALUES (now(), %(name)s, 'X', %(name)s || '@example.org', sha256(%(name)s::bytea), '')"
)
MOVED_IN = ACCOUNT.replace("name, fullname", "name_skeleton, name, fullname").replace("(now(), ", "(now(), %(look)s, ")


def test_a_name_that_is_compared_with_no_other_stays_and_all_others_count(dsn):
    """Names that move in and look like an earlier one have the skeleton ''. A person who renames their account chooses a free name."""
    for name, look in {"mara": None, "rnara": "", "mаra": "", "bob": None}.items():
        execute(dsn, MOVED_IN, name=name, look=look)
    with psycopg2.connect(dsn) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT name_skeleton FROM account ORDER BY id")
        assert cursor.fetchall() == [("rnara",), ("",), ("",), ("bob",)]
    for sql in (ACCOUNT, "UPDATE account SET name = %(name)s WHERE name = 'bob'"):
        with pytest.raises(psycopg2.errors.UniqueViolation, match="account_name_skeleton"):
            execute(dsn, sql, name="mаrа")
    execute(dsn, "UPDATE account SET fullname = 'Y' WHERE name = %(name)s", name="rnara")
    execute(dsn, "UPDATE account SET name = 'maria' WHERE name = %(name)s", name="rnara")
    with pytest.raises(psycopg2.errors.UniqueViolation, match="account_name_skeleton"):
        execute(dsn, "UPDATE account SET name = 'Marа' WHERE name = %(name)s", name="maria")


def execute(dsn, sql, **values):
    with psycopg2.connect(dsn) as connection, connection.cursor() as cursor:
        cursor.execute("SET search_path = public, code")
        cursor.execute(sql, values)
