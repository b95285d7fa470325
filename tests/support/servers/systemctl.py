"""Start, stop and reload services as their units say: what commands of the documentation need of systemd.

    systemctl start|stop|restart|reload|enable --now|disable --now NAME…    systemctl daemon-reload

Read of a unit and its drop-ins: the commands, user, environment, folders, and ``Type``. A unit of ``Type=notify`` has
started when it says so. What protects the machine from a service (sandboxes, limits) is left out.
"""

from __future__ import annotations

import os
import pwd
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

STATE = Path("/run/units")
FOLDERS = (Path("/etc/systemd/system"), Path("/lib/systemd/system"))
SECONDS = 90.0
ROOT = "root"


class Unit:
    """A service, by its unit and drop-ins."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lines: dict[str, list[str]] = defaultdict(list)
        unit = next((path for folder in FOLDERS if (path := folder / f"{name}.service").is_file()), None)
        if unit is None:
            sys.exit(f"Unit {name}.service not found.")
        for path in (unit, *sorted((FOLDERS[0] / f"{name}.service.d").glob("*.conf"))):
            for line in path.read_text("utf-8").splitlines():
                if "=" in line and not line.startswith("#"):
                    key, _, value = line.partition("=")
                    self.lines[key].append(value.replace("%p", name).replace("%H", socket.gethostname()))
        self.state = STATE / f"{name}.pid"
        self.log = STATE / f"{name}.log"

    def last(self, key: str, default: str = "") -> str:
        return next(reversed(self.lines[key]), default)

    @property
    def pid(self) -> int:
        """Of its main process; 0 if it does not run."""
        pid = int(self.state.read_text()) if self.state.exists() else 0
        try:
            is_gone = not pid or ") Z " in Path(f"/proc/{pid}/stat").read_text("utf-8")
        except OSError:
            is_gone = True
        return 0 if is_gone else pid

    def environment(self) -> dict[str, str]:
        user = pwd.getpwnam(self.last("User", ROOT))
        variables = {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin",
            "LANG": "C.UTF-8",
            "HOME": user.pw_dir,
        }
        lines = [word for line in self.lines["Environment"] for word in shlex.split(line)]
        for path in self.lines["EnvironmentFile"]:
            if (file := Path(path.removeprefix("-"))).is_file():
                lines += [shlex.split(line)[0] for line in file.read_text("utf-8").splitlines() if line[:1].isalpha()]
        return variables | dict(line.partition("=")[::2] for line in lines)

    def words(self, command: str, environment: dict[str, str]) -> list[str]:
        """A command with its variables in place, of which each may be several words."""
        known = {**environment, "MAINPID": str(self.pid)}
        words: list[str] = []
        for word in shlex.split(command):
            value = re.sub(r"\$\{?(\w+)\}?", lambda name: known.get(name[1], ""), word)
            words += shlex.split(value) if re.fullmatch(r"\$\w+", word) else [value]
        return words

    def begin(self, command: str, environment: dict[str, str]) -> subprocess.Popen[bytes]:
        user = pwd.getpwnam(self.last("User", ROOT))
        with self.log.open("ab") as log:
            return subprocess.Popen(
                self.words(command, environment), env=environment, cwd=self.last("WorkingDirectory", "/"),
                user=user.pw_uid, group=user.pw_gid, extra_groups=os.getgrouplist(user.pw_name, user.pw_gid),
                umask=int(self.last("UMask", "0022"), 8), start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip

    def run(self, key: str) -> None:
        for command in self.lines[key]:
            if self.begin(command, self.environment()).wait(SECONDS):
                self.failed()

    def failed(self) -> None:
        sys.exit(f"Job for {self.name}.service failed.\n{self.log.read_text(errors='replace')[-3000:]}")

    def start(self) -> None:
        if self.pid:
            return
        user = pwd.getpwnam(self.last("User", ROOT))
        for key, parent in (("StateDirectory", "/var/lib"), ("RuntimeDirectory", "/run")):
            for folder in (Path(parent, name) for name in self.lines[key]):
                folder.mkdir(exist_ok=True)
                os.chown(folder, user.pw_uid, user.pw_gid)
        self.run("ExecStartPre")
        kind = self.last("Type", "simple")
        if kind in ("forking", "oneshot"):
            self.run("ExecStart")
            return
        heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        address = STATE / f"{self.name}-{time.time_ns()}"
        heard.bind(str(address))
        address.chmod(0o666)
        heard.settimeout(0.2)
        process = self.begin(self.last("ExecStart"), {**self.environment(), "NOTIFY_SOCKET": str(address)})
        self.state.write_text(str(process.pid))
        end = time.monotonic() + SECONDS
        while kind == "notify":
            try:
                if b"READY=1" in heard.recv(4096):
                    return
            except TimeoutError:
                if process.poll() is not None or time.monotonic() > end:
                    self.failed()

    def stop(self) -> None:
        self.run("ExecStop")
        if pid := self.pid:
            os.kill(pid, signal.SIGTERM)
            end = time.monotonic() + SECONDS
            while self.pid and time.monotonic() < end:
                time.sleep(0.02)

    def restart(self) -> None:
        self.stop()
        self.start()

    def reload(self) -> None:
        if not self.pid:
            sys.exit(f"{self.name}.service is not active, cannot reload.")
        self.run("ExecReload")


def main(verb: str, *words: str) -> None:
    """What was typed."""
    STATE.mkdir(mode=0o755, exist_ok=True)
    names = [word.removesuffix(".service") for word in words if not word.startswith("-")]
    verb = (
        {"enable": "start", "disable": "stop"}.get(verb, verb)
        if verb not in ("enable", "disable") or "--now" in words
        else ""
    )
    for name in names:
        if verb:
            getattr(Unit(name), verb)()


if __name__ == "__main__":
    main(*sys.argv[1:])
