"""A backup of a server at work, and of the embedded database of an ordinary user, brought back elsewhere.

    make backup                 (python -m bench.backups.backup --rate 50 --seconds 60 --answers 1000000)

First part: crowdd and a PostgreSQL of its own under so many answers a second; in the middle ``crowdctl backup``. The
archive goes into an empty database of the same PostgreSQL and an empty folder. ``crowdctl check`` has to be silent
there, an API key made before has to work, and every answer that was confirmed before the snapshot has to be there. A
wrong passphrase, cut and changed archives have to be refused, with nothing changed.

Then a site with a million answers and 1,000 uploads: two backups in a folder, the second of which writes no file again,
and a restore of it within MAX_RESTORE, of the clock or, where others use the machine, of the CPU of crowdctl and
PostgreSQL together.

Last part (root only): the same archive as an ordinary user on a machine without any PostgreSQL (its folders are
hidden in a mount namespace), into the embedded one; backed up from there, restored again, checked.
"""

from __future__ import annotations

import argparse
import contextlib
import http.cookiejar
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import threading
import time
import urllib.request
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import attrs
from psycopg2.extensions import make_dsn
from support.person import Person
from support.servers.live import BIN, LiveServer

from bench.support import testbed
from bench.support.cpu import Cpu
from bench.support.filled import Filling, fill

WORD = "correct horse battery"
THREADS = 12
MAX_RESTORE = 300.0  # seconds
UPLOADS = 1000


@attrs.define
class Load:
    """Volunteers without an account who answer at a rate; what was confirmed when, and how long it took."""

    url: str
    project_id: int
    rate: float
    confirmed: list[tuple[float, int]] = attrs.field(factory=list)
    took: list[tuple[float, float]] = attrs.field(factory=list)
    failed: int = 0
    over: threading.Event = attrs.field(factory=threading.Event)

    def volunteer(self, number: int) -> None:
        """One of them, until it is over."""
        turn = time.monotonic() + number / self.rate
        while not self.over.wait(max(0.0, turn - time.monotonic())):
            turn += THREADS / self.rate
            self.answer(number)

    def answer(self, number: int) -> None:
        """A task and its answer, as a new person of a network of their own."""
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
        address = f"10.{number}.{len(self.took) // 250 % 250}.{len(self.took) % 250}"
        began = time.monotonic()
        try:
            task = _ask(opener, f"{self.url}/api/project/{self.project_id}/newtask", address)
            body = {"project_id": self.project_id, "task_id": task["id"], "info": "yes"}
            made = _ask(opener, f"{self.url}/api/taskrun", address, body)
        except OSError:
            self.failed += 1
            return
        self.confirmed.append((time.time(), made["id"]))
        self.took.append((began, time.monotonic() - began))


def _ask(opener: Any, url: str, address: str, body: Any = None) -> Any:
    headers = {"Content-Type": "application/json", "X-Forwarded-For": address}
    request = urllib.request.Request(url, None if body is None else json.dumps(body).encode(), headers)
    with opener.open(request, timeout=30) as response:
        return json.load(response)


def main() -> int:
    """Both parts; 0 when all of it holds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, default=50.0, help="Answers a second.")
    parser.add_argument("--seconds", type=float, default=60.0, help="How long before and after the backup.")
    parser.add_argument("--answers", type=int, default=1_000_000, help="Answers of the large site; 0: none.")
    options = parser.parse_args()
    with testbed.folder() as place, testbed.postgres(place) as postgres:
        archive, wanted = live(place, postgres.dsn, options)
        restored(place, postgres.dsn, archive, wanted)
        if options.answers:
            large(place, postgres, options.answers)
        if os.geteuid() == 0:
            embedded(place, archive, wanted)
    return 0


def live(place: Path, dsn: str, options: Any) -> tuple[Path, Wanted]:
    """The backup of a server at work."""
    archive = place / "backup.tar"
    with testbed.crowdd(dsn, place, CROWDD_VOLUNTEERS_COUNTED_PER_NETWORK="0") as server:
        needed = int(options.rate * options.seconds * 3) // 3
        project = testbed.project(server, tasks=needed, n_answers=30)
        (place / "data/uploads/project-1").mkdir(parents=True)
        for number in range(2000):
            (place / f"data/uploads/project-1/{number:032x}.png").write_bytes(os.urandom(10_000))
        load = Load(server.url, project.id, options.rate)
        threads = [threading.Thread(target=load.volunteer, args=(number,)) for number in range(THREADS)]
        for thread in threads:
            thread.start()
        time.sleep(options.seconds)
        began = time.monotonic()
        made = crowdctl(server.environment, place, "backup", archive, "--json")
        ended = time.monotonic()
        time.sleep(options.seconds)
        load.over.set()
        for thread in threads:
            thread.join()
        key = project.owner.key
    at = datetime.fromisoformat(made["snapshot_at"]).astimezone(UTC).timestamp()
    before = {answer for moment, answer in load.confirmed if moment < at}
    print(f"answers confirmed      {len(load.confirmed)} ({load.failed} failed), {len(before)} before the snapshot")
    print(f"backup                 {ended - began:.1f} s, {made['bytes']:,} bytes, {made['files']} files")
    for what, times in _parts(load.took, began, ended).items():
        print(f"turn {what:<18}p50 {_percentile(times, 50):.0f} ms, p95 {_percentile(times, 95):.0f} ms")
    assert not load.failed
    return archive, Wanted(before, key)


@attrs.frozen
class Wanted:
    """What has to be in what was restored."""

    answers: set[int]
    key: str


def _parts(took: list[tuple[float, float]], began: float, ended: float) -> dict[str, list[float]]:
    return {
        "before": [each for at, each in took if at < began],
        "during": [each for at, each in took if began <= at < ended],
        "afterwards": [each for at, each in took if at >= ended],
    }


def _percentile(times: list[float], percent: int) -> float:
    return 1000 * statistics.quantiles(times, n=100)[percent - 1] if len(times) > 1 else float("nan")


def restored(place: Path, dsn: str, archive: Path, wanted: Wanted) -> None:
    """Into an empty database and folder of the same machine; what must be refused is refused before."""
    testbed.Sql(make_dsn(dsn, user="postgres", dbname="postgres")).rows("CREATE DATABASE again OWNER crowdd")
    again, folder = make_dsn(dsn, dbname="again"), place / "again"
    environment = {**os.environ, "CROWDD_DB_DSN": again, "CROWDD_DATA_DIR": str(folder)}
    refused(environment, place, archive)
    assert testbed.Sql(again).one("SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace") == 0
    began = time.monotonic()
    done = crowdctl(environment, place, "restore", "--yes", archive, "--json")
    print(f"restored               {time.monotonic() - began:.1f} s, {sum(done['rows'].values()):,} rows")
    look(environment, place, again, wanted)
    server = LiveServer(again, folder)
    with contextlib.ExitStack() as ending:
        server.start()
        ending.callback(server.stop)
        owner = Person(server.url)
        owner.key = wanted.key
        owner.api(
            "POST", "project", {"name": "Afterwards", "short_name": "afterwards", "description": "Does the key work?"}
        )
        print("old API key            works")


def refused(environment: dict[str, str], place: Path, archive: Path) -> None:
    """A wrong passphrase, cut files, a changed byte: a sentence each."""
    whole = archive.read_bytes()
    for what, content, word in (
        ("wrong passphrase", whole, "another passphrase"),
        ("cut file", whole[: len(whole) * 2 // 3], WORD),
        (
            "changed byte",
            whole[: len(whole) // 2] + bytes([whole[len(whole) // 2] ^ 1]) + whole[len(whole) // 2 + 1 :],
            WORD,
        ),
    ):
        (place / "bad.tar").write_bytes(content)
        done = subprocess.run(
            [BIN / "crowdctl", "restore", "--yes", place / "bad.tar"],
            env={**environment, "CROWDD_BACKUP_PASSPHRASE": word},
            cwd=place, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 1 and done.stderr.startswith("Error: "), done.stderr
        print(f"refused                {what}: {done.stderr.strip().removeprefix('Error: ')}")
    assert not Path(environment["CROWDD_DATA_DIR"]).exists()


def look(environment: dict[str, str], place: Path, dsn: str, wanted: Wanted) -> None:
    """Counters and answers."""
    completed = subprocess.run(
        [BIN / "crowdctl", "check"], env=environment, cwd=place, capture_output=True, text=True, check=False
    )
    assert (completed.returncode, completed.stdout) == (0, ""), completed
    stored_ids = {row["id"] for row in testbed.Sql(dsn).rows("SELECT id FROM task_run")}
    missing = wanted.answers - stored_ids
    assert not missing, f"{len(missing)} answers are missing"
    print(f"crowdctl check         silent; all {len(wanted.answers)} answers are there, {len(stored_ids)} in all")


def large(place: Path, postgres: testbed.Postgres, answers: int) -> None:
    """A site with many answers and uploads, in a folder of backups and back."""
    dsn, (data, folder) = make_dsn(postgres.dsn, dbname="large"), (place / "large", place / "backups")
    testbed.Sql(make_dsn(dsn, user="postgres", dbname="postgres")).rows("CREATE DATABASE large OWNER crowdd")
    data.mkdir()
    folder.mkdir()
    environment = {"CROWDD_BACKUPS_DIR": str(folder), "CROWDD_DB_DSN": dsn, "CROWDD_DATA_DIR": str(data / "data")}
    testbed.upgrade(dsn, data)
    with testbed.crowdd(dsn, data) as server:
        project = testbed.project(server, tasks=1, n_answers=30)
    fill(testbed.Sql(dsn), project.id, Filling(tasks=max(1, answers // 10), runs=answers))
    uploads = data / f"data/uploads/project-{project.id}"
    uploads.mkdir(parents=True, exist_ok=True)
    for number in range(UPLOADS):
        (uploads / f"{number:032x}.png").write_bytes(os.urandom(100_000))
    environment = {**os.environ, **environment}
    for turn in ("first", "second"):
        began = time.monotonic()
        made = crowdctl(environment, place, "backup", "--json")
        took = time.monotonic() - began
        print(f"{turn + ' of a folder':<22} {took:.1f} s, {made['new_files']} of {made['files']} files new")
    assert made["new_files"] == 0 and made["files"] == UPLOADS
    again = make_dsn(dsn, dbname="large_again")
    testbed.Sql(make_dsn(dsn, user="postgres", dbname="postgres")).rows("CREATE DATABASE large_again OWNER crowdd")
    restore_environment = {**environment, "CROWDD_DB_DSN": again, "CROWDD_DATA_DIR": str(place / "large-again")}
    cpu = Cpu(os.getpid(), postgres.pid)
    before, own, began = cpu.spent(), resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(
        [BIN / "crowdctl", "restore", "--yes", made["path"], "--json"],
        env={**restore_environment, "CROWDD_BACKUP_PASSPHRASE": WORD}, cwd=place, capture_output=True, check=False,
    )  # fmt: skip
    ended, used = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode in (0, 1) and done.stdout, done.stderr.decode()
    spent = cpu.spent().since(before).postgres + used.ru_utime + used.ru_stime - own.ru_utime - own.ru_stime
    counts = [testbed.Sql(each).one("SELECT count(*) FROM task_run") for each in (dsn, again)]
    assert counts[0] == counts[1] == answers, counts
    name = f"uploads/{uploads.name}/{7:032x}.png"
    assert (data / "data" / name).read_bytes() == (place / "large-again" / name).read_bytes()
    assert len([*(place / "large-again/uploads").rglob("*.png")]) == UPLOADS
    print(f"{answers:,} answers       restored and recounted in {ended - began:.1f} s ({spent:.1f} s of CPU)")
    assert min(ended - began, spent) <= MAX_RESTORE


EMBEDDED = """
set -eu
mount -t tmpfs tmpfs /usr/lib/postgresql
for program in psql pg_dump pg_restore postgres initdb pg_config; do
  test ! -e /usr/bin/$program || mount --bind /dev/null /usr/bin/$program
done
exec setpriv --reuid 65534 --regid 65534 --clear-groups bash -euc '
cd $PLACE/user
export HOME=$PLACE/user CROWDD_DATA_DIR=$PLACE/user/one
crowdctl() { $PLACE/user/venv/bin/python $PLACE/user/venv/bin/crowdctl "$@"; }
crowdctl restore --yes --embedded $ARCHIVE
cat one/postgres/PG_VERSION
crowdctl check
crowdctl backup second.tar
export CROWDD_DATA_DIR=$PLACE/user/two
crowdctl restore --yes --embedded second.tar
crowdctl check && echo silent
'
"""


def embedded(place: Path, archive: Path, wanted: Wanted) -> None:
    """As nobody, without a PostgreSQL of the system, with the Python of the system and the packages of this one."""
    user = place / "user"
    user.mkdir()
    python = f"/usr/bin/python{sys.version_info[0]}.{sys.version_info[1]}"
    if not Path(python).exists():
        print(f"embedded               left out: there is no {python}, and an ordinary user cannot use ours")
        return
    subprocess.run([python, "-m", "venv", "--without-pip", user / "venv"], check=True)
    (site,) = (user / "venv/lib").glob("python3*/site-packages")
    packages = next(path for path in sys.path if path.endswith("site-packages"))
    (site / "ours.pth").write_text(f"{packages}\n{Path(__file__).parents[2]}\n")
    shutil.copy(BIN / "crowdctl", user / "venv/bin/crowdctl")
    shutil.copy(archive, user / "backup.tar")
    for path in (user, user / "backup.tar"):
        os.chown(path, 65534, 65534)
    environment = {
        **os.environ,
        "PLACE": str(place),
        "ARCHIVE": str(user / "backup.tar"),
        "CROWDD_BACKUP_PASSPHRASE": WORD,
    }
    began = time.monotonic()
    done = subprocess.run(
        ["unshare", "--mount", "bash", "-c", EMBEDDED],
        env=environment,
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == "silent", done.stdout + done.stderr
    print(f"embedded               {time.monotonic() - began:.1f} s for restore, backup and restore again as nobody:")
    print("                       " + "\n                       ".join(done.stdout.splitlines()))


def crowdctl(environment: dict[str, str], place: Path, *words: Any) -> Any:
    """What a command prints as JSON."""
    done = subprocess.run(
        [BIN / "crowdctl", *words],
        env={**environment, "CROWDD_BACKUP_PASSPHRASE": WORD},
        cwd=place,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


if __name__ == "__main__":
    sys.exit(main())
