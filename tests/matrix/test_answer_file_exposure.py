"""Who opens the files of answers: every requester × file, with an answer and without, shown and not."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
import pytest_twisted
from matrix.example_site import REQUESTERS, Stage
from support.checks.shows import shows
from twisted.internet.defer import ensureDeferred

from crowdd.features.media.feature import MediaFeature

KEEPERS = {"owner", "coowner", "admin", "volunteer"}


@pytest.fixture(scope="session")
def files(stage: Stage, tmp_path_factory: Any) -> dict[str, str]:
    """The words of files: of an answer in the open and in the locked project, and of none."""

    async def work() -> dict[str, str]:
        source = tmp_path_factory.mktemp("files") / "source"
        source.write_bytes(b"a picture")
        made = {}
        for name, project, run in (
            ("open", "open", stage.rows["taskrun"][0]),
            ("locked", "locked", stage.hidden["taskrun"][0]),
            ("unnamed", "open", None),
        ):
            made[name] = hashlib.sha256(name.encode()).hexdigest()[:40]
            path = f"project-{stage.projects[project]['id']}/{made[name]}.given"
            await stage.served.house[MediaFeature].media_store.put(path, source, "image/png")
            await stage.sql(
                "INSERT INTO answer_file (project_id, task_id, actor, key, word, created, run_id, bytes, facts, path)"
                ' VALUES (%(project)s, 1, %(actor)s, %(word)s, %(word)s, clock(), %(run)s, 9, \'{"kind": "picture", "type": "image/png"}\', %(path)s)'
                " RETURNING 1",
                project=stage.projects[project]["id"],
                actor=f"u:{stage['volunteer'].user_id}",
                word=made[name],
                run=run,
                path=path,
            )
        return made

    return pytest_twisted.blockon(ensureDeferred(work()))


async def openers(stage: Stage, word: str) -> set[str]:
    """The requesters who get a file, by both ways to ask; everybody else is told that there is none."""
    opened = set()
    for requester in REQUESTERS:
        answers = [await stage[requester].get(f"/answer-files/{word}{query}") for query in ("", "?small=1")]
        assert {answer.status for answer in answers} in ({200}, {404}), requester
        if answers[0].status == 200:
            opened.add(requester)
        else:
            assert all("picture" not in answer.text for answer in answers)
    return opened


@shows("answer-files-rights")
@pytest_twisted.ensureDeferred
async def test_a_file_is_opened_by_those_who_run_the_project_and_by_who_sent_it(stage, files):
    assert await openers(stage, files["open"]) == KEEPERS
    assert await openers(stage, files["locked"]) == KEEPERS
    assert await openers(stage, files["unnamed"]) == {"volunteer"}
    for word in files.values():
        for requester in REQUESTERS:
            path = f"/uploads/project-{stage.projects['open']['id']}/{word}.given"
            assert (await stage[requester].get(path)).status == 404, requester


@shows("answer-files-rights")
@pytest_twisted.ensureDeferred
async def test_files_that_an_owner_shows_are_opened_by_those_who_may_read_the_answer(stage, files):
    for value in ("'{\"shown\": true}'", "'null'"):
        await stage.sql(f"UPDATE project SET info = jsonb_set(info, '{{answer_files}}', {value}) RETURNING 1")
        shown = value != "'null'"
        assert await openers(stage, files["open"]) == (set(REQUESTERS) if shown else KEEPERS)
        assert await openers(stage, files["locked"]) == KEEPERS
        assert await openers(stage, files["unnamed"]) == {"volunteer"}
