"""The wheel as somebody gets it: installed into an empty virtual environment, run in an empty folder.

    make wheel                  (python -m bench.release.wheel)

Builds the wheel and the source distribution, makes a virtual environment in a new folder below ``/tmp``, installs
``crowdd[embedded]`` from the wheel with what it needs from the index of pip. Then, in an empty folder and with nothing
of the checkout on its path: ``twistd --help`` names crowdd, ``crowdctl serve`` starts, a volunteer gets a task of the
example and answers it, the answer is there, ``crowdctl doctor`` finds nothing wrong, Ctrl-C ends all of it.
With ``--audit``, pip-audit looks for known holes in everything that was installed (it asks the network).
"""

from __future__ import annotations

import argparse
import contextlib
import http.cookiejar
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from support.servers.building import built, copied
from support.servers.programs import Program

from bench.release import audit

READY = "Press Ctrl-C to stop"


def main() -> int:
    """The proof; 0 when all of it holds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--audit", action="store_true", help="Look for known holes in what was installed.")
    parser.add_argument("--keep", action="store_true", help="Leave the folder for a look.")
    options = parser.parse_args()
    with _folder(options.keep) as folder:
        checkout = copied(_new(folder, "checkout"))
        wheel = timed("wheel", lambda: built("wheel", checkout, _new(folder, "dist")))
        timed("source distribution", lambda: built("sdist", checkout, folder / "dist"))
        programs = timed("installed", lambda: _installed(folder, wheel))
        shutil.rmtree(checkout)
        timed("plugin found", lambda: _plugin(programs, _new(folder, "nothing")))
        timed("answered a task", lambda: _answered(programs, _new(folder, "empty")))
        return _audited(folder) if options.audit else 0


def timed(what: str, work: Any) -> Any:
    """What the work gives, and a line on how long it took."""
    began = time.monotonic()
    result = work()
    print(f"{what:<22}{time.monotonic() - began:7.1f} s", flush=True)
    return result


@contextlib.contextmanager
def _folder(keep: bool) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="crowdd-wheel-", dir="/tmp"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        print(folder) if keep else shutil.rmtree(folder, ignore_errors=True)


def _new(folder: Path, name: str) -> Path:
    (folder / name).mkdir()
    return folder / name


def _installed(folder: Path, wheel: Path) -> Path:
    """Where the programs of the new environment lie."""
    venv.create(folder / "venv", with_pip=True)
    programs = folder / "venv" / "bin"
    _run([programs / "pip", "install", "-q", "--disable-pip-version-check", f"{wheel}[embedded]"], folder)
    return programs


def _environment() -> dict[str, str]:
    return {name: text for name, text in os.environ.items() if not name.startswith(("CROWDD_", "PYTHON", "VIRTUAL"))}


def _run(command: list[Any], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, env=_environment(), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def _plugin(programs: Path, folder: Path) -> None:
    assert "crowdd" in _run([programs / "twistd", "--help"], folder)
    where = _run([programs / "python", "-c", "import crowdd; print(crowdd.__file__)"], folder)
    assert str(programs.parent) in where, where


def _answered(programs: Path, folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = str(probe.getsockname()[1])
    environment = {**_environment(), "CROWDD_HTTP_PORT": port, "CROWDD_DATA_DIR": str(folder / "var")}
    server = Program([str(programs / "crowdctl"), "serve"], cwd=folder, env=environment)
    try:
        server.read_until(READY)
        answer(f"http://127.0.0.1:{port}")
        done = subprocess.run(
            [programs / "crowdctl", "doctor", "--json"], cwd=folder, env=environment, capture_output=True, check=False
        )
        wrong = [finding["what"] for finding in json.loads(done.stdout) if finding["wrong"]]
        assert wrong == ["The site has no administrator."], wrong
    finally:
        server.process.send_signal(signal.SIGINT)
        assert server.end() == 0, server.output


def answer(url: str) -> None:
    """Answers a task of the example as a browser without an account."""
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))

    def ask(path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url + path, data, {"Content-Type": "application/json"})
        with opener.open(request, timeout=30) as response:
            return json.load(response)

    (project,) = ask("/api/project?short_name=digits")
    task = ask(f"/api/project/{project['id']}/newtask")
    task_run = ask("/api/taskrun", {"project_id": project["id"], "task_id": task["id"], "info": {"digit": 3}})
    assert ask(f"/api/taskrun/{task_run['id']}")["task_id"] == task["id"]
    assert ask(f"/api/project/{project['id']}/userprogress")["done"] == 1


def _audited(folder: Path) -> int:
    (where,) = (folder / "venv" / "lib").glob("python3*/site-packages")
    status, lines = audit.audited(where)
    print("\n".join(lines))
    return status


if __name__ == "__main__":
    sys.exit(main())
