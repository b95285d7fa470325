"""secret.key belongs to its database: what fits, what is refused, and that the first of two that start at once wins."""

from __future__ import annotations

import os

import pytest
import pytest_twisted
from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.defer import ensureDeferred, gatherResults

from crowdd.core import secrets as root_keys
from crowdd.core.secrets import Secrets, place
from crowdd.features.operations import keys
from crowdd.features.operations.keys import FITTING_MATCHES, Match, ServerKeyError, compare_keys, reconcile_keys

A, B, C, D = (bytes([number]) * 32 for number in range(4))


@pytest.mark.parametrize(
    ("recorded", "present", "match"),
    [
        ([], [A], Match.UNRECORDED),
        ([A], [A], Match.SAME),
        ([A], [B], Match.OTHER),
        ([A], [], Match.OTHER),
        ([A], [B, A], Match.CHANGED),  # a new first line
        ([B, A], [A], Match.OUTDATED),  # a copy of before
        ([B, A], [B], Match.OTHER),  # the line that look-ups need is gone
        ([B, A], [A, B], Match.OTHER),  # the lines have changed places
        ([C, B, A], [C, A], Match.CHANGED),  # a line was taken out after a rotation
        ([C, B, A], [D, C, A], Match.CHANGED),
        ([C, B, A], [B, A], Match.OUTDATED),
    ],
)
def test_which_files_fit_a_record(recorded, present, match):
    assert compare_keys(recorded, present) is match


@given(st.lists(st.binary(min_size=32, max_size=32), min_size=1, max_size=5, unique=True), st.data())
def test_a_file_that_lost_its_first_or_last_line_never_fits(lines, data):
    assert compare_keys(lines, lines) is Match.SAME
    others = data.draw(st.lists(st.binary(min_size=32, max_size=32), max_size=5).filter(lambda o: lines[-1] not in o))
    assert compare_keys(lines, others) not in FITTING_MATCHES
    assert compare_keys(lines, [line for line in lines if line != lines[0]]) not in FITTING_MATCHES


def test_a_fingerprint_tells_nothing_of_the_other_keys():
    secrets = Secrets(A, (B,))
    (first, second) = secrets.fingerprints
    assert (second,) == Secrets(B).fingerprints and first != second
    assert {len(first), len(second)} == {32}
    assert not {first, second} & {A, B, secrets.key("seal"), secrets.key("session"), Secrets(A).key("id")}


@pytest_twisted.ensureDeferred
async def test_the_first_start_writes_the_file_and_the_record(pool, tmp_path):
    secrets = root_keys.load(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [root_keys.CANDIDATE]
    await reconcile_keys(pool, tmp_path, secrets)
    await reconcile_keys(pool, tmp_path, root_keys.load(tmp_path))
    assert root_keys.existing(tmp_path) == secrets
    assert [path.name for path in tmp_path.iterdir()] == [root_keys.FILE]
    assert (await keys.read_key_state(pool, secrets)).match is Match.SAME


@pytest_twisted.ensureDeferred
async def test_two_folders_that_start_at_once_one_is_refused(pool, tmp_path):
    folders = [tmp_path / "one", tmp_path / "two"]
    loaded = [root_keys.load(folder) for folder in folders]
    pairs = zip(folders, loaded, strict=True)
    begun = [ensureDeferred(reconcile_keys(pool, folder, secrets)) for folder, secrets in pairs]
    ends = await gatherResults([each.addErrback(lambda failure: failure.check(ServerKeyError)) for each in begun])
    assert sorted(ends, key=bool) == [None, ServerKeyError]
    winner = ends.index(None)
    assert root_keys.existing(folders[winner]) == loaded[winner]
    assert [*folders[1 - winner].iterdir()] == [], "nothing is left where it was refused"


@pytest_twisted.ensureDeferred
async def test_two_processes_of_one_folder_have_one_key(pool, tmp_path):
    one, two = root_keys.load(tmp_path), root_keys.load(tmp_path)
    await gatherResults([ensureDeferred(reconcile_keys(pool, tmp_path, secrets)) for secrets in (one, two)])
    assert one == two == root_keys.existing(tmp_path)


@pytest_twisted.ensureDeferred
async def test_a_crash_between_the_record_and_the_file_is_made_up_for(pool, tmp_path):
    secrets = root_keys.load(tmp_path)
    await pool.transaction(lambda tx: keys.record_keys(tx, secrets))
    await reconcile_keys(pool, tmp_path, root_keys.load(tmp_path))
    assert root_keys.existing(tmp_path) == secrets


@pytest_twisted.ensureDeferred
async def test_a_rotated_file_is_taken_and_an_older_copy_refused(pool, tmp_path):
    await reconcile_keys(pool, tmp_path, root_keys.load(tmp_path))
    before = (tmp_path / root_keys.FILE).read_bytes()
    rotated = root_keys.add(tmp_path)
    await reconcile_keys(pool, tmp_path, rotated)
    (tmp_path / root_keys.FILE).write_bytes(before)
    with pytest.raises(ServerKeyError, match=r"is an older copy: key [0-9a-f]{16} of this database is missing"):
        await reconcile_keys(pool, tmp_path, root_keys.load(tmp_path))
    assert (await keys.read_key_state(pool, rotated)).match is Match.SAME


@pytest_twisted.ensureDeferred
async def test_a_line_goes_once_nothing_is_encrypted_with_it(pool, tmp_path, served):
    person = await served.person("ada")
    del person
    folder = served.house.base.settings.data.dir
    middle, newest = root_keys.add(folder), root_keys.add(folder)
    await reconcile_keys(pool, folder, middle)
    await reconcile_keys(pool, folder, newest)
    await pool.execute(
        "UPDATE account SET api_key_encrypted = %(encrypted)s",
        {"encrypted": middle.encrypt("x", place("account", "api_key_encrypted", 1))},
    )
    without = Secrets(newest.root, newest.older[1:])
    (folder / root_keys.FILE).write_text("".join(f"{root.hex()}\n" for root in without.roots))
    with pytest.raises(ServerKeyError, match="secrets are encrypted with it"):
        await reconcile_keys(pool, folder, without)
    await pool.execute(
        "UPDATE account SET api_key_encrypted = %(encrypted)s",
        {"encrypted": newest.encrypt("x", place("account", "api_key_encrypted", 1))},
    )
    await reconcile_keys(pool, folder, without)


@pytest_twisted.ensureDeferred
async def test_a_used_database_without_a_record_takes_only_the_file_that_opens_its_secrets(pool, served, tmp_path):
    await served.person("ada")
    folder = served.house.base.settings.data.dir
    await pool.execute("DELETE FROM server_key")
    with pytest.raises(ServerKeyError, match=r"contains no secret\.key"):
        await reconcile_keys(pool, tmp_path / "empty", root_keys.load(tmp_path / "empty"))
    other = tmp_path / "other"
    other.mkdir()
    root_keys.keep(other, Secrets(os.urandom(32)))
    with pytest.raises(ServerKeyError, match="it decrypts none of its secrets"):
        await reconcile_keys(pool, other, root_keys.load(other))
    await reconcile_keys(pool, folder, root_keys.load(folder))


@pytest_twisted.ensureDeferred
async def test_ready_says_when_the_database_belongs_to_another_key(served, pool):
    client = served.client()
    assert (await client.get("/ready")).json()["checks"]["key"] == "ok"
    other = Secrets(os.urandom(32))
    await pool.transaction(lambda tx: keys.record_keys(tx, other))
    response = await _ready_again(client)
    assert response.status == 503 and "another secret.key" in response.json()["checks"]["key"]


async def _ready_again(client):
    """What it says once it has looked again."""
    while (response := await client.get("/ready")).status == 200:
        pass
    return response
