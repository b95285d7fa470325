"""``crowdctl backup`` and ``restore``: what comes back, and what is refused before anything is changed."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import shutil
import signal
import subprocess
import tarfile
import threading
from pathlib import Path

import orjson
import psycopg2
import pytest
from psycopg2.extensions import make_dsn, parse_dsn
from psycopg2.extras import RealDictCursor
from support.checks.proofs import examples
from support.ledger import Ledger
from support.servers.live import BIN, LiveServer

from crowdd.core import passphrase
from crowdd.database.embedded.binaries import StartError, Tools, choose_tools
from crowdd.database.embedded.cluster import wait_until
from crowdd.features.operations import backup_archive
from crowdd.features.operations.backup_archive import Writer

WORD = "correct horse battery"
PASSPHRASE = {"CROWDD_BACKUP_PASSPHRASE": WORD}
PASSWORD = ("--password", "a good password")


@pytest.fixture
def databases(postgres):
    """Makes plain databases, without what the tests keep in theirs; they go at the end."""
    yield from plain_databases(postgres)


@pytest.fixture(scope="module")
def lasting_databases(postgres):
    """The same for all tests of this file."""
    yield from plain_databases(postgres)


def plain_databases(postgres):
    made = []

    def make(template="template1"):
        name = f"plain_{os.getpid()}_{len(made)}_{random.randrange(10**9)}"
        postgres.run(f"CREATE DATABASE {name} OWNER crowdd TEMPLATE {template} STRATEGY file_copy")
        made.append(make_dsn(postgres.dsn, dbname=name))
        return made[-1]

    yield make
    for dsn in made:
        postgres.drop(dsn)


@pytest.fixture(scope="module")
def original(lasting_databases, tmp_path_factory, program):
    """A server's database and data folder with an account, a project with tasks, and a file; and its backup."""
    home = tmp_path_factory.mktemp("original")
    (home / "birds").mkdir()
    made = program(home, lasting_databases())
    made("db", "upgrade")
    (home / "birds/project.json").write_text('{"name": "Birds", "short_name": "birds", "description": "Who sings?"}')
    (home / "birds/presenter.html").write_text("<p>Who?</p>")
    (home / "birds/tasks.ndjson").write_text("".join(f'{{"info": {{"n": {n}}}}}\n' for n in range(20)))
    made.json("admin", "create", "--name", "ada", "--email", "ada@example.org", *PASSWORD)
    made.json("project", "load", home / "birds", "--owner", "ada")
    uploads = home / "data/uploads/project-1"
    uploads.mkdir(parents=True)
    (uploads / "song.ogg").write_bytes(bytes(range(256)) * 5000)
    (uploads / "empty.txt").touch()
    (uploads / ".half.17").write_text("a draft")
    assert made.json("backup", home / "backup.tar", **PASSPHRASE)["files"] == 2
    return made


@pytest.fixture
def used(databases, original, tmp_path, program):
    """A copy of that server's database and data folder, on which a test may do what it likes."""
    shutil.copytree(data(original), tmp_path / "used/data")
    return program(tmp_path / "used", databases(parse_dsn(dsn(original))["dbname"]))


@pytest.fixture
def place(databases, tmp_path, program):
    """An empty database and an empty data folder."""
    home = tmp_path / "place"
    home.mkdir()
    return program(home, databases())


def fetched(name, sql):
    """The rows of a statement on a database, committed."""
    with contextlib.closing(psycopg2.connect(name, cursor_factory=RealDictCursor)) as connected:
        cursor = connected.cursor()
        cursor.execute(sql)
        connected.commit()
        return [dict(row) for row in cursor.fetchall()] if cursor.description else []


def data(program):
    return Path(program.environment["CROWDD_DATA_DIR"])


def dsn(program):
    return program.environment["CROWDD_DB_DSN"]


def untouched(program):
    """Whether nothing is in the place but the lock of its folder."""
    tables = fetched(dsn(program), "SELECT count(*) AS n FROM pg_class WHERE relnamespace = 'public'::regnamespace")
    folder = data(program)
    return tables == [{"n": 0}] and {path.name for path in folder.iterdir()} <= {"lock"} if folder.exists() else True


@pytest.fixture
def archive(original, tmp_path):
    """The backup of the used server."""
    return Path(shutil.copy2(Path(original.environment["HOME"]) / "backup.tar", tmp_path))


@pytest.fixture
def derived_once(monkeypatch):
    """The key that a passphrase gives with a salt and a cost, which is made to be dear, is derived once for each."""
    derived, keys = passphrase._key, {}

    def key(word, salt, cost):
        arguments = (word, salt, *cost.items())
        if arguments not in keys:
            keys[arguments] = derived(word, salt, cost)
        return keys[arguments]

    monkeypatch.setattr(passphrase, "_key", key)


class TestThereAndBack:
    def test_everything_comes_back_and_the_keys_work(self, used, place, archive):
        assert archive.stat().st_mode & 0o777 == 0o600
        assert [path.name for path in archive.parent.glob("*backup*")] == ["backup.tar"]
        key = used.json("user", "reset-api-key", "ada")["api_key"]
        archive.unlink()
        used.json("backup", archive, **PASSPHRASE)
        done = place.json("restore", "--yes", archive, **PASSPHRASE)
        assert done["differences"] == [] and done["rows"]["task"] == 20
        for name in ("secret.key", "uploads/project-1/song.ogg", "uploads/project-1/empty.txt"):
            assert (data(place) / name).read_bytes() == (data(used) / name).read_bytes(), name
        assert not (data(place) / "uploads/project-1/.half.17").exists() and not (data(place) / "restoring").exists()
        assert (data(place) / "secret.key").stat().st_mode & 0o777 == 0o600
        assert place("check").output == ""
        server = LiveServer(dsn(place), data(place))
        server.start()
        try:
            asked = [*("curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", f"Authorization: {key}")]
            body = '{"name": "New", "short_name": "newt", "description": "Is it?"}'
            posted = [*asked, "-H", "Content-Type: application/json", "-d", body, f"{server.url}/api/project"]
            assert subprocess.run(posted, capture_output=True, text=True, check=True).stdout == "200"
        finally:
            server.stop()

    def test_an_answer_given_meanwhile_is_whole_or_not_there(self, used, place, tmp_path):
        """Rows that belong together are written all the time while the snapshot is taken."""
        over = threading.Event()
        fetched(dsn(used), "CREATE TABLE pair (n int, side text)")

        def write():
            with contextlib.closing(psycopg2.connect(dsn(used))) as connected:
                while not over.is_set():
                    with connected, connected.cursor() as cursor:
                        cursor.execute("INSERT INTO pair SELECT count(*), 'a' FROM pair")
                        cursor.execute("INSERT INTO pair SELECT max(n), 'b' FROM pair")

        thread = threading.Thread(target=write)
        thread.start()
        try:
            made = used.json("backup", tmp_path / "b.tar", **PASSPHRASE)
        finally:
            over.set()
            thread.join()
        place.json("restore", "--yes", tmp_path / "b.tar", **PASSPHRASE)
        (counts,) = fetched(dsn(place), "SELECT count(*) AS n, count(*) FILTER (WHERE side = 'a') AS a FROM pair")
        assert counts["n"] == made["rows"].get("pair", 0) == 2 * counts["a"]

    def test_it_is_recorded_and_doctor_complains_of_its_age(self, used, archive):
        (row,) = fetched(dsn(used), "SELECT bytes FROM backup")
        assert row["bytes"] == archive.stat().st_size
        assert not [problem for problem in doctor(used) if "backup" in problem]
        fetched(dsn(used), "UPDATE backup SET snapshot_at = snapshot_at - interval '9 days'")
        assert "The last backup is 9 days old." in doctor(used)
        assert not [problem for problem in doctor(used, CROWDD_DATA_BACKUP_DAYS="0") if "backup" in problem]
        fetched(dsn(used), "DELETE FROM backup")
        fetched(dsn(used), "UPDATE project SET created = created - interval '9 days'")
        assert "No backup was made with crowdctl backup." in doctor(used)

    def test_the_settings_are_encrypted_and_come_back_beside_the_folder(self, used, place, tmp_path):
        secret = {"CROWDD_MAIL_PASSWORD": "sesame-sesame"}
        used.json("backup", tmp_path / "b.tar", **PASSPHRASE, **secret)
        assert b"sesame" not in (tmp_path / "b.tar").read_bytes()
        assert (data(used) / "secret.key").read_bytes().strip() not in (tmp_path / "b.tar").read_bytes()
        done = place.json("restore", "--yes", tmp_path / "b.tar", **PASSPHRASE)
        assert "[mail]\npassword = sesame-sesame\n" in Path(done["settings"]).read_text()
        assert Path(done["settings"]).stat().st_mode & 0o777 == 0o600

    def test_a_file_that_a_row_names_and_that_is_gone_is_counted(self, used, tmp_path):
        fetched(dsn(used), "UPDATE account SET avatar_file = 'user-1/gone.png'")
        assert used.json("backup", tmp_path / "b.tar", **PASSPHRASE)["missing"] == 1


def doctor(program, **more):
    return [finding["what"] for finding in program("doctor", "--json", **more).json]


class TestBackupRefuses:
    def test_a_file_that_is_there(self, used, archive):
        before = archive.read_bytes()
        assert "already exists" in used.refused("backup", archive, **PASSPHRASE)
        assert archive.read_bytes() == before

    def test_a_missing_or_short_passphrase(self, used, tmp_path):
        assert "Missing passphrase" in used.refused("backup", tmp_path / "b", status=2)
        assert "10 characters" in used.refused("backup", tmp_path / "b", status=2, CROWDD_BACKUP_PASSPHRASE="short")
        (tmp_path / "word").write_text(f"{WORD}\n")
        used.json("backup", tmp_path / "b", "--passphrase-file", tmp_path / "word")
        assert not [*tmp_path.glob(".b*")]

    def test_a_folder_without_pg_dump(self, used, tmp_path):
        error = used.refused("backup", tmp_path / "b", "--pg-bin", tmp_path, **PASSPHRASE)
        assert "pg_dump and pg_restore of PostgreSQL" in error and "postgresql-client-" in error
        assert not [*tmp_path.glob("*b")]

    def test_a_key_file_of_another_database(self, used, tmp_path):
        (data(used) / "secret.key").write_text(f"{'5a' * 32}\n")
        assert "is not the key file" in used.refused("backup", tmp_path / "b", **PASSPHRASE)

    @examples("15")
    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_interrupted_it_leaves_nothing(self, used, tmp_path, number):
        with contextlib.closing(psycopg2.connect(dsn(used))) as holder, holder.cursor() as cursor:
            cursor.execute("LOCK TABLE task IN ACCESS EXCLUSIVE MODE")
            command = [BIN / "crowdctl", "backup", tmp_path / "b"]
            variables = {**used.environment, **PASSPHRASE}
            with subprocess.Popen(command, env=variables, stderr=subprocess.PIPE, text=True) as process:
                assert wait_until(lambda: waiting(used), 60)
                process.send_signal(number)
                holder.rollback()
                assert process.stderr.read().strip() == "Aborted!"
            assert process.returncode == 1
        assert not [path for path in tmp_path.iterdir() if path.name.endswith(("b", ".part"))]


def waiting(program):
    return fetched(dsn(program), "SELECT count(*) AS n FROM pg_locks WHERE NOT granted")[0]["n"] > 0


class TestRestoreRefuses:
    """Each before anything is changed."""

    def test_a_wrong_passphrase(self, place, archive):
        assert "passphrase is wrong" in place.refused(
            "restore", "--yes", archive, CROWDD_BACKUP_PASSPHRASE="another password"
        )
        assert untouched(place)

    def test_a_file_that_is_cut_off(self, place, archive, tmp_path):
        whole = archive.read_bytes()
        for size in (0, 100, 512, 1024, len(whole) // 2, len(whole) - 11_000):
            (tmp_path / "cut").write_bytes(whole[:size])
            error = place.refused("restore", "--yes", tmp_path / "cut", **PASSPHRASE)
            assert "cut off" in error or "not an archive" in error, (size, error)
        assert untouched(place)

    @pytest.mark.usefixtures("derived_once")
    def test_a_changed_byte_anywhere(self, archive):
        """In names, contents, padding, manifest, keys and the end; drawn from a seed, and one in each block of 512."""
        whole = archive.read_bytes()
        drawn = random.Random(7)
        blocks = [*drawn.sample(range(len(whole) // 512), 60), *range(len(whole) // 512 - 30, len(whole) // 512)]
        for block in blocks:
            changed = bytearray(whole)
            changed[block * 512 + drawn.randrange(512)] ^= 1 << drawn.randrange(8)
            with pytest.raises((backup_archive.ArchiveError, backup_archive.encryption.PassphraseError)):
                backup_archive.verify_archive(io.BytesIO(changed), WORD)
        assert backup_archive.verify_archive(io.BytesIO(whole), WORD).header["rows"]["task"] == 20

    @pytest.mark.usefixtures("derived_once")
    def test_a_letter_that_means_the_same(self, archive):
        """Keys are hexadecimal digits: one bit makes a capital of a letter."""
        whole = archive.read_bytes()
        start = whole.rindex(b'"salt":"') + len(b'"salt":"')
        letter = next(at for at in range(start, start + 32) if whole[at : at + 1].isalpha())
        changed = whole[:letter] + whole[letter : letter + 1].upper() + whole[letter + 1 :]
        with pytest.raises(backup_archive.encryption.PassphraseError):
            backup_archive.verify_archive(io.BytesIO(changed), WORD)

    def test_a_changed_byte_by_the_command(self, place, archive):
        changed = bytearray(archive.read_bytes())
        changed[len(changed) // 2] ^= 1
        archive.write_bytes(changed)
        assert "The archive is damaged" in place.refused("restore", "--yes", archive, **PASSPHRASE)
        assert untouched(place)

    @pytest.mark.parametrize(
        ("header", "said"),
        [
            ({"migrations": [1, 2, 9999]}, "upgraded by a newer crowdd"),
            ({"postgresql": 990_001}, "The backup needs PostgreSQL 99 or newer (found "),
        ],
    )
    def test_an_archive_of_a_newer_crowdd_or_server(self, place, tmp_path, header, said):
        target = written(tmp_path / "newer", {"migrations": [1], "postgresql": 150_000, "rows": {}, **header})
        assert said in place.refused("restore", "--yes", target, **PASSPHRASE)
        assert untouched(place)

    def test_an_archive_of_a_newer_format(self, place, tmp_path, monkeypatch):
        monkeypatch.setattr(backup_archive, "_WITHOUT_STORE", 3)
        target = written(tmp_path / "newer", {})
        assert "has format 3, but this crowdd reads format 2" in place.refused("restore", "--yes", target, **PASSPHRASE)

    @pytest.mark.parametrize("name", ["../evil", "uploads/../../evil", "/etc/evil", "uploads/a/b/c/d/e", "lock"])
    def test_an_archive_with_a_file_for_elsewhere(self, name):
        out = io.BytesIO()
        writer = Writer(out, lambda what, number: None)
        writer.header({})
        info = tarfile.TarInfo(name)
        writer._tar.addfile(info, io.BytesIO())
        writer.end(WORD, {"keys": [], "settings": ""})
        with pytest.raises(backup_archive.ArchiveError, match="it holds"):
            backup_archive.verify_archive(out, WORD)

    def test_a_database_that_is_not_empty(self, used, place, archive):
        error = place.refused("restore", "--yes", archive, CROWDD_DB_DSN=dsn(used), **PASSPHRASE)
        assert "The database is not empty" in error and "A restore does not replace data" in error
        assert untouched(place)

    def test_a_data_folder_that_is_not_empty(self, place, archive):
        data(place).mkdir()
        (data(place) / "secret.key").write_text("theirs")
        assert "is not empty. It contains secret.key" in place.refused("restore", "--yes", archive, **PASSPHRASE)
        assert (data(place) / "secret.key").read_text() == "theirs"

    def test_a_folder_in_use(self, used, place, archive):
        data(place).mkdir()
        held = subprocess.Popen(["flock", data(place) / "lock", "sleep", "60"])
        try:
            assert wait_until(lambda: "flock" in locked(data(place)), 60)
            (data(place) / "lock").write_text(str(held.pid))
            assert "is used by another crowdd" in place.refused("restore", "--yes", archive, **PASSPHRASE)
        finally:
            held.kill()
            held.wait()


def locked(folder):
    inode = (folder / "lock").stat().st_ino if (folder / "lock").exists() else None
    return (
        "flock"
        if any(line.split()[5].endswith(f":{inode}") for line in Path("/proc/locks").read_text().splitlines())
        else ""
    )


def written(target, header):
    """An archive without anything in it but a header."""
    with target.open("wb") as out:
        writer = Writer(out, lambda what, number: None)
        writer.header(header)
        writer.end(WORD, {"keys": [], "settings": ""})
    return target


@pytest.mark.proof
def test_snapshots_come_back_and_the_same_content_has_the_same_hash(used, place, tmp_path):
    used("project", "publish", "birds")
    ledger = Ledger(dsn(used))
    for actor in ("u:1", "c:x"):
        ledger.contribute(1, actor)
    ledger.close()
    made = used.json("project", "snapshot", "make", "birds")
    used.json("backup", tmp_path / "s.tar", **PASSPHRASE)
    place.json("restore", "--yes", tmp_path / "s.tar", **PASSPHRASE)
    assert place("project", "snapshot", "verify", made["hash"]).status == 0
    assert place.json("check") == [], "the audit log came back whole"
    place.json("jobs", "run", "chain_audit")
    with contextlib.closing(psycopg2.connect(dsn(place))) as connected, connected, connected.cursor() as cursor:
        cursor.execute("DELETE FROM snapshot")
    again = place.json("project", "snapshot", "make", "birds")
    assert (again["hash"], again["known"]) == (made["hash"], False)


@pytest.mark.proof
def test_a_restore_that_is_interrupted_leaves_an_empty_place(place, archive):
    """While the table of tasks is filled; then it works."""
    with contextlib.closing(psycopg2.connect(dsn(place))) as holder, holder.cursor() as cursor:
        # pg_restore waits here, in the middle of its transaction.
        cursor.execute("CREATE TABLE public.task (id int)")
        command = [BIN / "crowdctl", "restore", "--yes", archive]
        variables = {**place.environment, **PASSPHRASE}
        with subprocess.Popen(command, env=variables, stderr=subprocess.PIPE, text=True) as process:
            assert wait_until(lambda: waiting(place), 60)
            process.send_signal(signal.SIGINT)
            assert process.stderr.read().strip() == "Aborted!"
        holder.rollback()  # not before, or the restore goes on, and may commit before it hears the signal
    assert untouched(place)
    assert place.json("restore", "--yes", archive, **PASSPHRASE)["rows"]["task"] == 20


def test_a_restore_that_was_killed_after_the_commit_is_finished_by_the_next(place, archive, used):
    place.json("restore", "--yes", archive, **PASSPHRASE)
    stage = data(place) / "restoring"
    stage.mkdir()
    with archive.open("rb") as file:
        (stage / "archive").write_text(backup_archive.verify_archive(file, WORD).id)
    shutil.move(data(place) / "secret.key", stage / "secret.key")
    assert "contains no secret.key" in place.refused("admin", "list")
    assert place.json("restore", "--yes", archive, **PASSPHRASE)["rows"]["task"] == 20
    assert [row["name"] for row in place.json("admin", "list")] == ["ada"]
    assert not stage.exists()


class TestTools:
    FOUND = (Tools(Path("/a"), "15.8"), Tools(Path("/b"), "18.1"), Tools(Path("/c"), "17.10"))

    @pytest.mark.parametrize(("major", "folder"), [(15, "/a"), (16, "/c"), (17, "/c"), (18, "/b")])
    def test_the_same_version_or_the_next_newer_one(self, major, folder):
        assert choose_tools(major, self.FOUND).folder == Path(folder)

    def test_older_ones_are_refused_and_named(self):
        with pytest.raises(StartError, match=r"PostgreSQL 19 or newer are required \(found: 15\.8 in /a, 18\.1 in /b"):
            choose_tools(19, self.FOUND)


def test_manifest_and_header_are_json_for_other_programs(archive):
    with tarfile.open(archive) as tar:
        names = tar.getnames()
        header = json.load(tar.extractfile("header.json"))
        manifest = orjson.loads(tar.extractfile("manifest.json").read())
        dump = b"".join(tar.extractfile(name).read() for name in names if name.startswith("dump/"))
    assert names[0] == "header.json" and names[-2:] == ["manifest.json", "keys.json"]
    assert header["rows"]["task"] == 20 and header["format"] == manifest["format"] == 1
    assert dump.startswith(b"PGDMP") and len(dump) == manifest["dump_bytes"]
