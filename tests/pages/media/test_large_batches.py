"""A batch of ten thousand files: pages and lists stay small, and one statement changes all of them."""

import pytest
import pytest_twisted
from support.media import begin

from crowdd.features.batches import statements as batch_statements
from crowdd.features.batches.feature import BatchesFeature

FILES = 10_000
FILL = """
INSERT INTO media_file (batch_id, project_id, created, path, key, bytes, state, digest)
SELECT %(batch)s, 1, clock(), 'trip/' || n || '.jpg', 'k' || n, 10, CASE WHEN n % 2 = 0 THEN 'refused' ELSE 'waiting' END,
       sha256(n::text::bytea)
  FROM generate_series(1, %(files)s) n
"""
PAGES_READ = "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) "


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_ten_thousand_files_are_counted_listed_and_left_out(served):
    owner = await served.person("owner")
    await served.project(owner, tasks=1)
    batch = await begin(owner)
    number, db = int(batch.rpartition("/")[2]), served.house[BatchesFeature].media_batches._db
    await db.execute(
        FILL.replace("n % 2", "n %% 2"), {"batch": number, "files": FILES}
    )  # as the members of an archive come
    row = await batch_statements.get(db, 1, number)
    assert (row["n_files"], row["open_files"]) == (FILES, FILES // 2)
    page = await owner.get(batch, headers={"Accept": "text/html"})
    assert page.status == 200 and len(page.body) < 150_000 and "4,800 more are not shown." in page.text
    after, lists = 0, []
    while after is not None:
        lists.append((await owner.get(f"{batch}/files?after={after}")).json())
        after = lists[-1]["next"]
    assert [len(each["files"]) for each in lists] == [1000] * 10 + [0] * (len(lists) - 10)
    names = [f"trip/{n}_front.jpg" for n in range(FILES)]
    plan = (await owner.post("/project/birds/tasks/media/plan", json={"names": names})).json()
    assert (plan["tasks_by_file"], len(plan["groups"])) == (FILES, 0)
    assert (await owner.post(f"{batch}/discard", json={})).status == 200
    left = await batch_statements.get(db, 1, number)
    assert (left["n_files"], left["open_files"]) == (FILES // 2, 0)


@pytest_twisted.ensureDeferred
async def test_the_next_file_is_found_without_reading_those_that_are_done(served):
    owner = await served.person("owner")
    await served.project(owner, tasks=1)
    first, second = [int((await begin(owner, column=name)).rpartition("/")[2]) for name in ("a", "b")]
    db = served.house[BatchesFeature].media_batches._db
    await db.execute(FILL.replace("n % 2", "n %% %(files)s"), {"batch": first, "files": 3000})
    await db.execute(FILL.replace("n % 2 = 0", "n < %(files)s"), {"batch": second, "files": 3000})
    await db.execute("ANALYZE media_file")

    class Explaining:
        async def fetch(self, sql, values):
            (row,) = await db.fetch(PAGES_READ + sql, values)
            plan = row["QUERY PLAN"][0]["Plan"]
            self.pages = plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
            return []

    explaining = Explaining()
    await batch_statements.files(explaining, second, 0, 1, ("waiting",))
    assert explaining.pages <= 10
    await batch_statements.has_any(explaining, second, ("waiting", "prepared"))
    assert explaining.pages <= 10
