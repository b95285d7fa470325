"""The installation of docs/install.md, and backup and restore of docs/operations.md, as the text stands.

The commands are typed into one root shell, in namespaces of their own: /etc is a copy, /opt, /usr/local, /var/lib and
/var/backups are empty, and no network but the loopback is there. What this machine cannot do is named in ``INSTEAD``,
each with its reason; everything else is run to the letter.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from support.servers.building import built, copied
from support.servers.live import BIN

from crowdd.database.embedded.binaries import find_all

ROOT = Path(__file__).parents[2]
SITE = next(Path(path) for path in sys.path if path.endswith("site-packages"))
# Ours may lie where only root can go. What was compiled for one version fits the other of the same number.
PYTHON = Path(f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}")

# What is run in place of a line of the text, and why.
INSTEAD = {
    # No release is on an index yet; the text says that the wheel takes its place. What it needs is what the tests have,
    # and the program twistd is made as pip would make it.
    "/opt/crowdd/bin/pip install crowdd": (
        "/opt/crowdd/bin/pip install -q --disable-pip-version-check --no-deps --no-index $WHEEL; "
        f"mkdir /opt/needed; mount --bind {SITE} /opt/needed; "
        "echo /opt/needed > $(echo /opt/crowdd/lib/python3*/site-packages)/needed.pth; "
        f'sed "1s|.*|#!/opt/crowdd/bin/python|" {BIN}/twistd > /opt/crowdd/bin/twistd; chmod 755 /opt/crowdd/bin/twistd'
    ),
    # systemd does not run here: the unit's own lines are run, as its user and with its environment.
    "systemctl daemon-reload": "true",
    "systemctl enable --now crowdd": "start_unit",
    "systemctl start crowdd": "start_unit",
    "systemctl stop crowdd": "stop_unit",
    "systemctl restart crowdd": "stop_unit; start_unit",
    "systemctl start postgresql": "pg start",
    "systemctl stop postgresql": "pg stop",
    "systemctl restart postgresql": "pg restart",
    # Nobody is at a terminal to say yes.
    "runuser -u crowdd -- crowdctl restore --passphrase-file /etc/crowdd/passphrase /var/backups/crowdd/backup.tar": (
        "runuser -u crowdd -- crowdctl restore --yes --passphrase-file /etc/crowdd/passphrase /var/backups/crowdd/backup.tar"
    ),
    # It is there: without it, the test is skipped.
    "apt-get install -y --no-install-recommends pgbackrest": "true",
    # The moment of the test.
    'moment="2026-03-04 14:31:07+00"': 'moment="$BEFORE"',
}
# What else the shell needs: a PostgreSQL as a package of the system starts it, and what systemd would do.
BEFORE = """
set -eu
mount -t overlay overlay -o lowerdir=/etc,upperdir=$PLACE/etc,workdir=$PLACE/work /etc
for folder in /opt /usr/local/bin /var/lib /var/backups /var/run/postgresql; do
  mkdir -p $folder $PLACE/empty$folder; mount --bind $PLACE/empty$folder $folder
done
ip link set lo up
mkdir -p /etc/systemd/system
chown postgres /var/run/postgresql; chmod 755 /var/run/postgresql
install -d -o postgres /var/lib/pg
as_postgres() { runuser -u postgres -- "$@"; }
(cd / && as_postgres $PG/initdb -D /var/lib/pg/data --auth=peer --encoding=UTF8 > /dev/null)
pg() {
  (cd / && as_postgres $PG/pg_ctl -D /var/lib/pg/data -w -m fast -l /var/lib/pg/log \\
    -o "-c listen_addresses= -c unix_socket_directories=/var/run/postgresql" $1 > /dev/null)
}
pg start
stop_unit() { test -z "${SERVER:-}" || { kill $SERVER; wait $SERVER || true; }; SERVER=; }
end() { stop_unit; pg stop; }
trap end EXIT
start_unit() {
  unit=/etc/systemd/system/crowdd.service
  line() { sed -n "s/^$1=//p" $unit; }
  cd $(line WorkingDirectory)
  runuser -u $(line User) -- env $(line Environment) $(line ExecStartPre) > /dev/null
  runuser -u $(line User) -- env $(line Environment) $(line ExecStart) > $PLACE/log 2>&1 & SERVER=$!
  for i in $(seq 600); do ! curl -sf http://127.0.0.1:8000/ready > /dev/null || break; sleep 0.1; done
  cd - > /dev/null
}
cd ~
PATH=$PG:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
umask 022
"""

needs_root = pytest.mark.skipif(
    os.geteuid() != 0 or not PYTHON.exists(), reason="The text is for root, and for a Python that everybody can run."
)


def commands(page: str, section: str) -> list[str]:
    """The shell blocks of a section, one by one."""
    text = (ROOT / "docs" / page).read_text("utf-8").partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"^ *```sh\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL)
    return ["".join(line.removeprefix("   ") + "\n" for line in block.splitlines()) for block in blocks]


def as_run(block: str) -> str:
    """The block, with what takes the place of some lines."""
    return "".join(f"{INSTEAD.get(line, line)}\n" for line in block.splitlines())


@pytest.fixture
def place():
    """A folder for the namespaces; overlays want one that is none itself."""
    folder = Path(tempfile.mkdtemp(prefix="crowdd-install-", dir="/tmp"))
    folder.chmod(0o755)
    for name in ("etc", "work"):
        (folder / name).mkdir()
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def typed(place: Path, script: str, wheel: Path) -> str:
    """What the root shell prints."""
    environment = {
        "PLACE": str(place),
        "WHEEL": str(wheel),
        "PG": str(find_all()[0].folder),
        "HOME": "/root",
        "LANG": "C.UTF-8",
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
    }
    script = BEFORE + script
    shell = ["unshare", "--mount", "--net", "bash", "-c", script]
    done = subprocess.run(shell, env=environment, cwd="/", capture_output=True, text=True, timeout=1200, check=False)
    log = (place / "log").read_text() if (place / "log").exists() else ""
    assert done.returncode == 0, done.stdout + done.stderr + log
    return done.stdout


@pytest.mark.proof
@needs_root
def test_installation_backup_and_restore_work_as_they_are_written(place, tmp_path):
    (tmp_path / "checkout").mkdir()
    wheel = built("wheel", copied(tmp_path / "checkout"), place)
    *install, doctor = commands("install.md", "Production installation")
    passphrase, backup, _unit, _set, _look, _drill, restore, _postgresql = commands(
        "operations.md", "Backup and restore"
    )
    moved = """
stop_unit
mv /var/lib/crowdd /var/lib/crowdd.before; runuser -u postgres -- dropdb crowdd
install -d -o crowdd -g crowdd -m 700 /var/lib/crowdd; runuser -u postgres -- createdb --owner crowdd crowdd
mv /var/backups/crowdd/*.tar /var/backups/crowdd/backup.tar
"""
    ask = 'curl -s -o /dev/null -w "%{http_code}\\n" -H "Host: crowd.example.org" http://127.0.0.1:8000'
    script = "\n".join(
        [
            *map(as_run, install),
            # The data folder that commands and server use is the same one: the finding was that it is not.
            f"{ask}$(runuser -u crowdd -- crowdctl admin link | grep -o '/account/[^ ]*')",
            f"{as_run(doctor)} || true".replace("doctor\n", "doctor"),
            as_run(passphrase),
            as_run(backup),
            moved,
            as_run(restore),
            "start_unit",
            f"{ask}/ready",
            "runuser -u crowdd -- crowdctl check && echo every counter is right",
            "find /var/lib/crowdd ! -user crowdd | sed 's/^/not of crowdd: /'",
        ]
    )
    lines = typed(place, script, wheel).splitlines()
    assert [line for line in lines if line.isdigit()] == ["200", "200"]
    wrong = [line for line in lines if line.startswith("Problem:")]
    assert [line for line in wrong if "administrator" not in line] == [], lines
    assert "every counter is right" in lines and any(line.startswith("Restored what was committed") for line in lines)
    assert not [line for line in lines if line.startswith("not of crowdd")]


@pytest.mark.proof
@needs_root
def test_scheduled_backups_and_recovery_to_a_moment_work_as_they_are_written(place, tmp_path):
    """A project is deleted, and the moment before comes back with its file."""
    if shutil.which("pgbackrest") is None:
        pytest.skip("pgBackRest is not installed: apt-get install -y --no-install-recommends pgbackrest")
    (tmp_path / "checkout").mkdir()
    wheel = built("wheel", copied(tmp_path / "checkout"), place)
    *install, _doctor = commands("install.md", "Production installation")
    passphrase, _backup, unit, configure, look, drill, _restore, _postgresql = commands(
        "operations.md", "Backup and restore"
    )
    setup = commands("operating/point-in-time-recovery.md", "Set up")
    find, moment, *back = commands("operating/point-in-time-recovery.md", "Go back to a moment")
    word = "a good password"
    script = "\n".join(
        [
            *map(as_run, install),
            as_run(passphrase),
            as_run(unit),
            as_run(configure),
            'run() { runuser -u crowdd -- crowdctl "$@"; }',
            f"(cd /var/lib/crowdd; run admin create --name ada --email ada@example.org --password '{word}')",
            "mkdir /var/lib/birds; cd /var/lib/birds",
            """printf '{"name": "Birds", "short_name": "birds", "description": "Who sings?"}' > project.json""",
            "echo '<p>Who?</p>' > presenter.html; seq 20 | sed 's/.*/{\"info\": {\"n\": &}}/' > tasks.ndjson",
            "chown -R crowdd /var/lib/birds; run project load /var/lib/birds --owner ada; cd ~",
            "install -d -o crowdd /var/lib/crowdd/uploads /var/lib/crowdd/uploads/project-1",
            "echo song > /var/lib/crowdd/uploads/project-1/song.ogg; chown crowdd /var/lib/crowdd/uploads/project-1/*",
            "run jobs run back_up",
            as_run(look),
            as_run(drill),
            *map(as_run, setup),
            # pgBackRest knows when the backup ended by the second, and goes back to a later one.
            "ended=$(date +%s); until [ $(date +%s) -gt $ended ]; do true; done",
            "BEFORE=$(runuser -u postgres -- psql -Atc 'SELECT clock_timestamp()')",
            "run project delete birds --yes; rm -f /var/lib/crowdd/uploads/project-1/song.ogg",
            as_run(find),
            "run project show birds || echo the project is gone",
            as_run(moment),
            *map(as_run, back),
            "run project show birds --json | grep -q '\"n_tasks\": 20' && echo the project is back",
            "run check && cat /var/lib/crowdd/uploads/project-1/song.ogg",
            "curl -s -o /dev/null -w '%{http_code}\\n' -H 'Host: crowd.example.org' http://127.0.0.1:8000/project/birds/",
        ]
    )
    lines = typed(place, script, wheel).splitlines()
    assert [line for line in lines if re.match(r"crowdd-.*\.tar$|files$", line)], lines
    assert any(line.startswith("Checked in ") and "Everything was removed again." in line for line in lines), lines
    assert "the project is gone" in lines and "the project is back" in lines and "song" in lines
    assert any(line.startswith("Noted. Programs") for line in lines) and "Added 1 files" in " ".join(lines)


def test_every_line_with_a_stand_in_is_in_the_text():
    sections = (
        ("install.md", "Production installation"),
        ("operations.md", "Backup and restore"),
        ("operating/point-in-time-recovery.md", "Set up"),
        ("operating/point-in-time-recovery.md", "Go back to a moment"),
    )
    lines = [line for section in sections for block in commands(*section) for line in block.splitlines()]
    assert {*INSTEAD} <= {*lines}
