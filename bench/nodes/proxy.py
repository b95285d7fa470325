"""HAProxy with the configuration of deploy/nodes, on ports of its own."""

from __future__ import annotations

import contextlib
import csv
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from support.servers.live import free_port

from crowdd.database.embedded.cluster import wait_until

SHIPPED = Path(__file__).parents[2] / "deploy" / "nodes" / "haproxy.cfg"
MISSING = "HAProxy is not installed: apt-get install -y --no-install-recommends haproxy"
_SECONDS = 60.0


class Proxy:
    """``url`` is where clients go. ``servers``: the ports of the servers by their names in the configuration."""

    def __init__(self, place: Path, servers: Mapping[str, int]) -> None:
        self.port, self._socket = free_port(), place / "haproxy.sock"
        self.url = f"http://127.0.0.1:{self.port}"
        self._config, self._log = place / "haproxy.cfg", place / "haproxy.log"
        self._config.write_text(configuration(self.port, self._socket, servers))
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Returns when it takes connections."""
        program = shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin:/usr/local/sbin")
        if program is None:
            raise FileNotFoundError(MISSING)
        with self._log.open("ab") as log:
            self._process = subprocess.Popen([program, "-db", "-f", self._config], stdout=log, stderr=log)
        if not wait_until(lambda: self._socket.exists() or self._ended(), _SECONDS) or self._ended():
            raise RuntimeError(f"HAProxy does not start: {self.log()}")

    def _ended(self) -> bool:
        return self._process is not None and self._process.poll() is not None

    def log(self) -> str:
        """What it has written."""
        return self._log.read_text(errors="replace")

    def is_up(self, name: str) -> bool:
        """Whether it sends requests to this server."""
        return any(row["svname"] == name and row["status"].startswith("UP") for row in self.figures())

    def figures(self) -> list[dict[str, str]]:
        """A row for each server, as "show stat" has it."""
        with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as asked:
            asked.connect(str(self._socket))
            asked.sendall(b"show stat\n")
            response = b"".join(iter(lambda: asked.recv(65536), b"")).decode()
        rows = csv.DictReader(response.removeprefix("# ").splitlines())
        return [row for row in rows if row["pxname"] == "nodes" and row["svname"] != "BACKEND"]

    def await_up(self, name: str) -> None:
        """Returns when it sends requests to this server."""
        if not wait_until(lambda: self.is_up(name), _SECONDS):
            raise RuntimeError(f"HAProxy does not find server {name}: {self.log()}")

    def stop(self) -> None:
        """Ends it."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(_SECONDS)


def configuration(port: int, stats: Path, servers: Mapping[str, int]) -> str:
    """The configuration that is shipped, with other addresses: TLS and the ports below 1024 are left out."""
    text = SHIPPED.read_text("utf-8")
    text = re.sub(r"stats socket \S+", f"stats socket {stats}", text)
    text = re.sub(r"maxconn \d+", "maxconn 2000", text)  # the limit on open files may be low here
    text = re.sub(r"(?m)^ +bind :443 .*\n| +http-request redirect scheme .*\n", "", text)
    text = text.replace("bind :80", f"bind 127.0.0.1:{port}").replace(
        "X-Forwarded-Proto https", "X-Forwarded-Proto http"
    )
    for name, server_port in servers.items():
        text, changed = re.subn(rf"(?m)^( +server {name}) \S+", rf"\1 127.0.0.1:{server_port}", text)
        if not changed:
            raise ValueError(f"{SHIPPED} has no server {name}.")
    return text


@contextlib.contextmanager
def proxy(place: Path, servers: Mapping[str, int]) -> Iterator[Proxy]:
    """HAProxy in front of these servers. Raises FileNotFoundError where it is not installed."""
    made = Proxy(place, servers)
    made.start()
    try:
        yield made
    finally:
        made.stop()
