"""Three machines with etcd, Patroni and PostgreSQL, on this one: with a network of their own where that is allowed.

They run with the files of deploy/ha, in which only names, addresses, folders and the binaries' place are others.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from crowdd.database.embedded.binaries import find_all
from crowdd.database.embedded.cluster import wait_until

SHIPPED = Path(__file__).parents[2] / "deploy" / "ha"
NEEDED = ("patroni", "patronictl", "etcd")
MISSING = (
    "Patroni and etcd are not installed: "
    "apt-get install -y --no-install-recommends patroni etcd-server postgresql haproxy"
)
NAMES = ("db1", "db2", "db3")
FIRST_NUMBER = 21
SCOPE = "crowdd"
_SMALL_LAG = 1 << 20  # bytes
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Network:
    """Addresses of the machines. With ``apart`` each is in a network namespace, and this machine is the switch."""

    def __init__(self) -> None:
        self.apart = os.geteuid() == 0 and shutil.which("ip") is not None and _run("ip", "netns", "add", "crowdd-try")
        if self.apart:
            _run("ip", "netns", "del", "crowdd-try")
        number = os.getpid() % 200 + 20
        self.prefix = f"10.219.{number}" if self.apart else "127.0.219"
        self.bridge = f"crowdd{number}"

    def __enter__(self) -> Network:
        if self.apart:
            _must("ip", "link", "add", self.bridge, "type", "bridge")
            _must("ip", "addr", "add", f"{self.prefix}.1/24", "dev", self.bridge)
            _must("ip", "link", "set", self.bridge, "up")
        return self

    def __exit__(self, *_: object) -> None:
        if self.apart:
            _run("ip", "link", "del", self.bridge)

    def address(self, name: str) -> str:
        """Of a machine."""
        return f"{self.prefix}.{FIRST_NUMBER + NAMES.index(name)}"


class Machine:
    """One of the three. Everything on it runs in its folder, which is how its processes are found."""

    def __init__(self, name: str, place: Path, network: Network, *, synchronous: bool) -> None:
        self._synchronous = synchronous
        self.name, self.network, self.address = name, network, network.address(name)
        self.folder = place / name
        self.folder.mkdir()
        self.folder.chmod(0o755)
        self._space, self._line = f"{network.bridge}-{name}", f"{network.bridge}{name[-1]}"
        (self.folder / "patroni.yml").write_text(self._configured("patroni.yml"))
        self._environment = dict(re.findall(r'(?m)^(ETCD_\w+)="(.*)"$', self._configured("etcd.env")))
        for path in (self.folder, self.folder / "patroni.yml"):
            if os.geteuid() == 0:
                shutil.chown(path, "postgres", "postgres")

    def connect(self) -> None:
        """Gives it its network."""
        if not self.network.apart:
            return
        _must("ip", "netns", "add", self._space)
        _must("ip", "link", "add", self._line, "type", "veth", "peer", "name", "eth0", "netns", self._space)
        _must("ip", "link", "set", self._line, "master", self.network.bridge, "up")
        for words in (f"addr add {self.address}/24 dev eth0", "link set eth0 up", "link set lo up"):
            _must("ip", "-n", self._space, *words.split())

    def start(self) -> None:
        """As its init system does when it boots."""
        for name, command, more in (
            ("etcd", ["etcd"], self._environment),
            ("patroni", ["patroni", "patroni.yml"], {}),
        ):
            environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": str(self.folder), **more}
            with (self.folder / f"{name}.log").open("ab") as log:
                subprocess.Popen(
                    [*self._inside(), *command], env=environment, cwd=self.folder, stdout=log, stderr=log,
                    stdin=subprocess.DEVNULL, start_new_session=True,
                )  # fmt: skip

    def kill(self) -> None:
        """As a power cut does: everything on it ends at once."""
        wait_until(lambda: not self._signal(signal.SIGKILL), 30)

    def cut_off(self) -> None:
        """Nothing reaches it or comes from it, and it goes on. Without a network of its own it stands still."""
        if self.network.apart:
            _must("ip", "link", "set", self._line, "down")
        else:
            self._signal(signal.SIGSTOP)

    def reconnect(self) -> None:
        """The cable is back."""
        if self.network.apart:
            _must("ip", "link", "set", self._line, "up")
        else:
            self._signal(signal.SIGCONT)

    def remove(self) -> None:
        """Ends all of it for good."""
        self.kill()
        if self.network.apart:
            _run("ip", "netns", "del", self._space)

    def told(self, path: str) -> Any:
        """What its Patroni answers; None when it does not."""
        with (
            contextlib.suppress(OSError, ValueError),
            DIRECT.open(f"http://{self.address}:8008{path}", timeout=2) as answer,
        ):
            return json.load(answer)
        return None

    def _signal(self, number: int) -> list[int]:
        pids = [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if self._runs(pid)]
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        return pids

    def _runs(self, pid: int) -> bool:
        try:
            zombie = " Z " in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2][:3]
            return not zombie and self.folder in (where := Path(os.readlink(f"/proc/{pid}/cwd")), *where.parents)
        except OSError:
            return False

    def _inside(self) -> list[str]:
        space = ["ip", "netns", "exec", self._space] if self.network.apart else []
        user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] if os.geteuid() == 0 else []
        return [*space, *user]

    def _configured(self, file: str) -> str:
        text = (SHIPPED / file).read_text("utf-8")
        others = {"10.0.0.": f"{self.network.prefix}.", "/var/lib/etcd/crowdd": f"{self.folder}/etcd"}
        others |= {
            "/var/lib/postgresql/15/crowdd": f"{self.folder}/data",
            "/usr/lib/postgresql/15/bin": str(binaries()),
            "/var/lib/postgresql/.pgpass-patroni": f"{self.folder}/pgpass",
            "unix_socket_directories: /var/run/postgresql": f"unix_socket_directories: {self.folder}",
        }
        text = re.sub(r"((?:NAME=|name: )\"?)db1", rf"\g<1>{self.name}", text)
        text = re.sub(r"(?m)^(?!.*(INITIAL_CLUSTER=|hosts:))(.*)10\.0\.0\.21", rf"\g<2>{self.address}", text)
        for shipped, other in others.items():
            text = text.replace(shipped, other)
        if not self._synchronous:
            text = text.replace("synchronous_mode: true", "synchronous_mode: false")
        # A watchdog would restart this machine.
        return text.replace("mode: automatic", 'mode: "off"')


class Cluster:
    """All three together."""

    def __init__(self, place: Path, network: Network, *, synchronous: bool) -> None:
        self.machines = {name: Machine(name, place, network, synchronous=synchronous) for name in NAMES}
        self._second = "sync_standby" if synchronous else "replica"

    def dsn(self, user: str, password: str, database: str) -> str:
        """All hosts, of which the primary is wanted."""
        hosts = ",".join(machine.address for machine in self.machines.values())
        return f"host={hosts} dbname={database} user={user} password={password} target_session_attrs=read-write"

    def leader(self, *, but: str = "") -> str:
        """The primary, as Patroni sees it; empty while there is none. ``but``: a machine that is not asked."""
        for machine in self.machines.values():
            if machine.name != but and (status := machine.told("/cluster")):
                leaders = [row["name"] for row in status["members"] if row["role"] == "leader"]
                if leaders and leaders[0] != but and self._takes_changes(leaders[0]):
                    return str(leaders[0])
        return ""

    def _takes_changes(self, name: str) -> bool:
        status = self.machines[name].told("/patroni")
        return bool(status) and status["role"] in ("master", "primary") and status["state"] == "running"

    def whole(self) -> bool:
        """Whether all three run, follow the same primary, and one of them would take over without losing anything."""
        status = next(filter(None, (machine.told("/cluster") for machine in self.machines.values())), {"members": []})
        rows = [row for row in status["members"] if row["state"] in ("running", "streaming")]
        roles = sorted(row["role"] for row in rows)
        lines = {row.get("timeline") for row in rows}
        follow = all(isinstance(row.get("lag", 0), int) and row.get("lag", 0) <= _SMALL_LAG for row in rows)
        return roles == ["leader", "replica", self._second] and len(lines) == 1 and follow

    def seen(self) -> str:
        """What each Patroni says of all three."""
        return "; ".join(f"{machine.name}: {machine.told('/cluster')}" for machine in self.machines.values())

    def await_whole(self, seconds: float) -> None:
        """Returns when it is. Raises RuntimeError with what is the case instead."""
        if not wait_until(self.whole, seconds):
            raise RuntimeError(f"The three servers do not come together: {self.seen()}")

    def switch_over(self) -> None:
        """As an operator does before maintenance."""
        leader = self.leader()
        file = str(self.machines[leader].folder / "patroni.yml")
        command = ["patronictl", "-c", file, "switchover", SCOPE, "--master", leader, "--force"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        if done.returncode or "Successfully switched over" not in done.stdout:
            raise RuntimeError(f"patronictl: {done.stdout[-500:]} {done.stderr[-500:]}")


def binaries() -> Path:
    """Debian's PostgreSQL, the newest."""
    return find_all()[0].folder


@contextlib.contextmanager
def cluster(place: Path, *, synchronous: bool = True) -> Iterator[Cluster]:
    """Three machines that run together. Raises FileNotFoundError where a program is missing."""
    if not all(map(shutil.which, NEEDED)):
        raise FileNotFoundError(MISSING)
    with contextlib.ExitStack() as stack:
        made = Cluster(place, stack.enter_context(Network()), synchronous=synchronous)
        for machine in made.machines.values():
            stack.callback(machine.remove)
            machine.connect()
        for machine in made.machines.values():
            machine.start()
        made.await_whole(300)
        yield made


def _run(*command: str) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _must(*command: str) -> None:
    subprocess.run(command, capture_output=True, check=True)
