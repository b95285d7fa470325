"""The installation of docs/install.md, backup, restore and recovery to a moment, as the text stands.

Each block is typed into a new root shell in another folder, on a machine that is new (``support.servers.machines``).
What cannot be typed here is named in ``INSTEAD``, each with its reason; everything else is run to the letter.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.servers.building import built, copied
from support.servers.machines import NEEDS_ROOT, PIP, Machines, blocks, can_be_made, machines

# What is run in place of a line of the text, and why.
INSTEAD = {
    # Nobody is at a terminal to say yes.
    "runuser -u crowdd -- crowdctl restore --passphrase-file /etc/crowdd/passphrase /var/backups/crowdd/backup.tar": (
        "runuser -u crowdd -- crowdctl restore --yes --passphrase-file /etc/crowdd/passphrase /var/backups/crowdd/backup.tar"
    ),
    # It is there: without it, the test is skipped.
    "apt-get install -y --no-install-recommends pgbackrest": "true",
    # The moment of the test.
    'moment="2026-03-04 14:31:07+00"': 'moment="$(cat /run/moment)"',
}
INSTALL = ("install.md", "## Production installation")
BACKUP = ("operations.md", "## Backup and restore")
SETUP = ("operating/point-in-time-recovery.md", "## Set up")
GO_BACK = ("operating/point-in-time-recovery.md", "## Go back to a moment")
NAME = "crowd"
ASK = 'curl -s -o /dev/null -w "%{http_code}\\n" -H "Host: crowd.example.org" http://127.0.0.1:8000'

needs_root = pytest.mark.skipif(not can_be_made(), reason=NEEDS_ROOT)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("wheel", copied(tmp_path_factory.mktemp("checkout")), tmp_path_factory.mktemp("wheel"))


@pytest.fixture
def site(wheel: Path) -> Iterator[Machines]:
    """A new machine with a PostgreSQL."""
    with machines(wheel, **{NAME: None}) as made:
        made.add_postgresql(NAME)
        yield made


def typed(site: Machines, *parts: str) -> str:
    """What new shells print, one for each block, with what takes the place of some lines."""
    return "".join(
        site.types(NAME, "".join(f"{INSTEAD.get(line, line)}\n" for line in block.splitlines())) for block in parts
    )


@pytest.mark.proof
@needs_root
def test_installation_backup_and_restore_work_as_they_are_written(site: Machines) -> None:
    *install, doctor = blocks(*INSTALL)
    passphrase, backup, _unit, _set, _look, _drill, restore, _postgresql = blocks(*BACKUP)
    typed(site, *install)
    # The data folder that commands and server use is the same one: the finding was that it is not.
    assert typed(site, f"{ASK}$(runuser -u crowdd -- crowdctl admin link | grep -o '/account/[^ ]*')") == "200\n"
    findings = typed(site, f"{doctor.strip()} || true").splitlines()
    assert [line for line in findings if line.startswith("Problem:") and "administrator" not in line] == []
    typed(site, passphrase, backup)
    typed(
        site,
        """
systemctl stop crowdd
mv /var/lib/crowdd /var/lib/crowdd.before; runuser -u postgres -- dropdb crowdd
install -d -o crowdd -g crowdd -m 700 /var/lib/crowdd; runuser -u postgres -- createdb --owner crowdd crowdd
mv /var/backups/crowdd/*.tar /var/backups/crowdd/backup.tar
""",
    )
    assert "Restored what was committed" in typed(site, restore)
    assert typed(site, "systemctl start crowdd", f"{ASK}/ready") == "200\n"
    assert typed(site, "runuser -u crowdd -- crowdctl check") == ""
    assert typed(site, "find /var/lib/crowdd ! -user crowdd") == "", "the user of the server owns all of it"


@pytest.mark.proof
@needs_root
def test_scheduled_backups_and_recovery_to_a_moment_work_as_they_are_written(site: Machines) -> None:
    """A project is deleted, and the moment before comes back with its file."""
    if shutil.which("pgbackrest") is None:
        pytest.skip("pgBackRest is not installed: apt-get install -y --no-install-recommends pgbackrest")
    *install, _doctor = blocks(*INSTALL)
    passphrase, _backup, unit, configure, look, drill, _restore, _postgresql = blocks(*BACKUP)
    find, moment, stop_and_restore, *back = blocks(*GO_BACK)
    typed(site, *install, passphrase, unit, configure)
    typed(
        site,
        """
run() { runuser -u crowdd -- crowdctl "$@"; }
run admin create --name ada --email ada@example.org --password 'a good password'
mkdir /var/lib/birds; cd /var/lib/birds
printf '{"name": "Birds", "short_name": "birds", "description": "Who sings?"}' > project.json
echo '<p>Who?</p>' > presenter.html; seq 20 | sed 's/.*/{"info": {"n": &}}/' > tasks.ndjson
chown -R crowdd /var/lib/birds; run project load /var/lib/birds --owner ada
install -d -o crowdd /var/lib/crowdd/uploads /var/lib/crowdd/uploads/project-1
echo song > /var/lib/crowdd/uploads/project-1/song.ogg; chown crowdd /var/lib/crowdd/uploads/project-1/*
run jobs run back_up
""",
    )
    assert re.search(r"^crowdd-.*\.tar$", typed(site, look), re.MULTILINE)
    assert "Everything was removed again." in typed(site, drill)
    typed(site, *blocks(*SETUP))
    typed(
        site,
        """
# pgBackRest knows when the backup ended by the second, and goes back to a later one.
ended=$(date +%s); until [ $(date +%s) -gt $ended ]; do true; done
runuser -u postgres -- psql -Atc 'SELECT clock_timestamp()' > /run/moment
runuser -u crowdd -- crowdctl project delete birds --yes; rm -f /var/lib/crowdd/uploads/project-1/song.ogg
""",
    )
    assert re.search(r"delete +project +1 ", typed(site, find))
    site.types(NAME, "runuser -u crowdd -- crowdctl project show birds", status=1)
    # The moment is a variable of the shell in which the next step is typed.
    seen = typed(site, moment + stop_and_restore, *back)
    assert "Noted. Programs" in seen and "Added 1 files" in seen
    assert '"n_tasks": 20' in typed(site, "runuser -u crowdd -- crowdctl project show birds --json")
    assert typed(site, "cat /var/lib/crowdd/uploads/project-1/song.ogg") == "song\n"
    assert typed(site, f"{ASK}/ready") == "200\n"


def test_every_line_with_a_stand_in_is_in_the_text() -> None:
    texts = [block for section in (INSTALL, BACKUP, SETUP, GO_BACK) for block in blocks(*section)]
    texts += blocks("operating/several-servers.md", "## Upgrade one server after the other")
    assert {*INSTEAD, *PIP} <= {line for block in texts for line in block.splitlines()}
