"""Machines on which the commands of the documentation are typed, each as if it had just been set up.

A machine is a mount namespace over this one: /etc is a copy, /opt, /usr/local/bin, /var/lib, /var/backups, /srv and /run are empty.
All are in one network without the world, in which every machine has its address. What is typed runs in a new root
shell, each time in another folder. ``systemctl``, ``ssh`` and ``scp`` are programs of ours: no systemd runs there, and
the machines have no keys.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from crowdd.database.embedded.binaries import find_all
from support.servers.building import ROOT
from support.servers.live import BIN

SITE = next(Path(path) for path in sys.path if path.endswith("site-packages"))
# Ours may lie where only root can go. What was compiled for one version fits the other of the same number.
PYTHON = Path(f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}")
NEEDS_ROOT = (
    "Needs root, a Python that everybody can run, and ip, nsenter and unshare (apt-get install iproute2 util-linux)."
)
FOLDERS = ("/", "/root", "/tmp", "/var/lib", "/usr/share")
PATH = "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# No release is on an index yet; the text says that the wheel takes its place. What it needs is what the tests have, and
# the program twistd is made as pip would make it.
WHEEL_INSTEAD = (
    "/opt/crowdd/bin/pip install -q --disable-pip-version-check --no-deps --no-index --force-reinstall $WHEEL; "
    f"mkdir -p /opt/needed; mountpoint -q /opt/needed || mount --bind {SITE} /opt/needed; "
    "echo /opt/needed > $(echo /opt/crowdd/lib/python3*/site-packages)/needed.pth; "
    f'sed "1s|.*|#!/opt/crowdd/bin/python|" {BIN}/twistd > /opt/crowdd/bin/twistd; chmod 755 /opt/crowdd/bin/twistd'
)
PIP = ("/opt/crowdd/bin/pip install crowdd", "/opt/crowdd/bin/pip install --upgrade crowdd")

SETUP = """
set -eu
mkdir -p $OWN/etc $OWN/work
mount -t overlay overlay -o lowerdir=/etc,upperdir=$OWN/etc,workdir=$OWN/work /etc
for folder in /opt /usr/local/bin /var/lib /var/backups /srv; do
  mkdir -p $OWN/empty$folder; mount --bind $OWN/empty$folder $folder
done
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /etc/systemd/system
install -d -o postgres -g postgres /run/postgresql /var/lib/postgresql
cp $PLACE/bin/* /usr/local/bin/
echo $$ > $OWN/pid
echo ready
exec sleep infinity
"""
# A PostgreSQL as a package of the system starts it, at the addresses of $1.
POSTGRESQL = """
install -d -o postgres /var/lib/pg
cd /
runuser -u postgres -- {pg}/initdb -D /var/lib/pg/data --auth-local=peer --auth-host=scram-sha-256 --encoding=UTF8 > /dev/null
echo 'host all all 10.0.0.0/24 scram-sha-256' >> /var/lib/pg/data/pg_hba.conf
printf '%s\\n' "listen_addresses = '{listen}'" "unix_socket_directories = '/run/postgresql'" >> /var/lib/pg/data/postgresql.conf
ln -s {pg}/psql {pg}/createuser {pg}/createdb {pg}/dropdb /usr/local/bin/
cat > /etc/systemd/system/postgresql.service <<END
[Service]
Type=forking
User=postgres
ExecStart={pg}/pg_ctl -D /var/lib/pg/data -w -l /var/lib/pg/log start
ExecStop={pg}/pg_ctl -D /var/lib/pg/data -w -m fast stop
END
systemctl start postgresql
"""


class CommandError(AssertionError):
    """What was typed ended with another status."""


class Machines:
    """``names``: the machines, with the last number of each address 10.0.0.…, or None for one that needs no network."""

    def __init__(self, place: Path, names: Mapping[str, int | None], wheel: Path) -> None:
        self.place, self.wheel = place, wheel
        self._folders = itertools.cycle(FOLDERS)
        self._programs(names)
        space = [
            "setpriv",
            "--pdeathsig",
            "KILL",
            "unshare",
            "--net",
            "--mount",
            "--pid",
            "--fork",
            "--kill-child",
            "--mount-proc",
        ]
        network = "ip link set lo up; " + "".join(
            f"ip addr add 10.0.0.{number}/24 dev lo; " for number in names.values() if number
        )
        first = ["sh", "-c", f"{network}echo ready; while :; do sleep 1000 & wait; done"]
        self._whole = subprocess.Popen([*space, *first], stdout=subprocess.PIPE)
        self._await(self._whole)
        self._init = Path(f"/proc/{self._whole.pid}/task/{self._whole.pid}/children").read_text().split()[0]
        for name in names:
            (place / name).mkdir()
            environment = {"PLACE": str(place), "OWN": str(place / name), "PATH": PATH}
            command = self._inside("unshare", "--mount", "sh", "-c", SETUP)
            self._await(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE))

    def _await(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n", "No machine could be made."

    def _inside(self, *command: str) -> list[str]:
        return ["nsenter", "-t", self._init, "-n", "-m", "-p", "--", *command]

    def _programs(self, names: Mapping[str, int | None]) -> None:
        folder = self.place / "bin"
        folder.mkdir()
        here = "".join(f"10.0.0.{number}) name={name} ;;\n" for name, number in names.items() if number)
        enter = f'case "${{host#*@}}" in\n{here}esac\nexec nsenter -t $(cat {self.place}/$name/pid) -m -- '
        programs = {
            "systemctl": f'exec {PYTHON} {self.place}/systemctl.py "$@"\n',
            "ssh": f'host=$1\nshift\n{enter}sh -c "cd /root; $*"\n',
            "scp": f'host=${{2%%:*}}\nexec < "$1"\n{enter}sh -c "cat > ${{2#*:}}"\n',
        }
        shutil.copy(ROOT / "tests/support/servers/systemctl.py", self.place)
        for name, text in programs.items():
            (folder / name).write_text(f"#!/bin/sh\n{text}")
            (folder / name).chmod(0o755)

    def types(self, name: str, block: str, *, status: int = 0) -> str:
        """What a new root shell of the machine prints. Raises CommandError if its last command has another status."""
        instead = "".join(f"{WHEEL_INSTEAD if line in PIP else line}\n" for line in block.splitlines())
        command = f"cd {next(self._folders)}; set -e; {instead}"
        own = (self.place / name / "pid").read_text().strip()
        # Compiling all of crowdd takes longer than everything else here.
        environment = {
            "HOME": "/root",
            "LANG": "C.UTF-8",
            "PATH": PATH,
            "WHEEL": str(self.wheel),
            "PIP_NO_COMPILE": "1",
        }
        shell = self._inside("nsenter", "-t", own, "-m", "--", "bash", "-c", command)
        done = subprocess.run(shell, env=environment, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode != status:
            raise CommandError(f"{name}: status {done.returncode} of:\n{block}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def add_postgresql(self, name: str, listen: str = "") -> None:
        """The PostgreSQL of the system on a machine."""
        self.types(name, POSTGRESQL.format(pg=find_all()[0].folder, listen=listen))

    def until(self, name: str, command: str, seconds: float = 60.0) -> str:
        """What the command prints once it succeeds."""
        end = time.monotonic() + seconds
        while True:
            try:
                return self.types(name, command)
            except CommandError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.2)

    def end(self) -> None:
        """Ends everything that runs on them."""
        self._whole.kill()
        self._whole.wait()


@contextlib.contextmanager
def machines(wheel: Path, **names: int | None) -> Iterator[Machines]:
    """New machines in a folder that the users of services can read; overlays want one that is none itself."""
    place = Path(tempfile.mkdtemp(prefix="crowdd-machines-", dir="/tmp"))
    place.chmod(0o755)
    shutil.copy(wheel, place)
    made = None
    try:
        made = Machines(place, names, place / wheel.name)
        yield made
    finally:
        if made is not None:
            made.end()
        shutil.rmtree(place, ignore_errors=True)


def can_be_made() -> bool:
    """Whether this machine and this user can make machines."""
    return os.geteuid() == 0 and PYTHON.exists() and all(map(shutil.which, ("ip", "nsenter", "unshare")))


def blocks(page: str, section: str, kind: str = "sh") -> list[str]:
    """The shell blocks of a section of the documentation, one by one. ``section``: its heading with the signs before it."""
    marks = section.partition(" ")[0]
    _, heading, text = (ROOT / "docs" / page).read_text("utf-8").partition(f"\n{section}\n")
    assert heading, f"docs/{page} has no section {section}."
    text = re.split(rf"^#{{1,{len(marks)}}} ", text, maxsplit=1, flags=re.MULTILINE)[0]
    parts = re.findall(rf"^ *```{kind}\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL)
    return ["".join(line.removeprefix("   ") + "\n" for line in part.splitlines()) for part in parts]
