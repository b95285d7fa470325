"""Processes that read files of others cannot reach the network, whichever of the programs they run."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from crowdd.kernel.concurrency import isolated
from crowdd.kernel.concurrency.isolated import command, environment

ROOT = Path(__file__).parents[2]
WITH_NETWORK = {
    "crowdd.features.operations.backup_program": "it reads the database, and no files of users",
}
PROGRAMS = sorted(".".join(path.relative_to(ROOT).with_suffix("").parts) for path in ROOT.glob("crowdd/**/*program.py"))
FUNCTIONS = dict(
    name.split(":")
    for path in ROOT.glob("crowdd/**/*.py")
    for name in re.findall(r'"(crowdd[\w.]+program:\w+)"', path.read_text("utf-8"))
)
"""Of those that ``isolated`` calls; the others are modules that are run themselves."""
# Python runs a module of this name at its start. As soon as the process is bounded, it does what a program that was taken over
# would do.
SPY = """
import errno, json, os, socket, sys

def attempt(what, *arguments):
    try:
        what(*arguments)
    except OSError as error:
        return errno.errorcode[error.errno]
    return "done"

def connect(family, address):
    with socket.socket(family) as made:
        made.connect(address)

def send():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
        made.sendto(b"x", ("127.0.0.1", UDP))

def see(frame, event, argument):
    if event == "return" and frame.f_code.co_name == "apply" and frame.f_code.co_filename.endswith("isolated.py"):
        sys.setprofile(None)
        tries = [attempt(connect, socket.AF_INET, ("127.0.0.1", TCP)), attempt(send)]
        tries.append(attempt(connect, socket.AF_UNIX, UNIX))
        tries.append(os.waitstatus_to_exitcode(os.system(ANOTHER)))
        os.write(OUT, json.dumps([tries, len(os.listdir("/proc/self/task"))]).encode())

sys.setprofile(see)
"""


class Listeners:
    """Sockets of the test: a stream, datagrams, and one with a path."""

    def __init__(self, folder: Path) -> None:
        self.stream = socket.create_server(("127.0.0.1", 0))
        self.datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.datagrams.bind(("127.0.0.1", 0))
        self.path = socket.socket(socket.AF_UNIX)
        self.path.bind(str(folder / "socket"))
        self.path.listen()
        self.all = (self.stream, self.datagrams, self.path)
        for each in self.all:
            each.setblocking(False)

    def spy(self, folder: Path, out: int) -> None:
        """What the processes whose PYTHONPATH has the folder try, and where they write how it went."""
        tcp, udp = self.stream.getsockname()[1], self.datagrams.getsockname()[1]
        program = f"import socket; socket.create_connection(('127.0.0.1', {tcp}))"
        names = {"TCP": tcp, "UDP": udp, "UNIX": self.path.getsockname(), "OUT": out}
        names["ANOTHER"] = f'{sys.executable} -S -c "{program}" 2>/dev/null'
        lines = "".join(f"{name} = {value!r}\n" for name, value in names.items())
        (folder / "sitecustomize.py").write_text(lines + SPY)

    @property
    def silent(self) -> bool:
        """Whether nothing has come to any of them."""
        for each in (self.stream, self.path):
            with pytest.raises(BlockingIOError):
                each.accept()
        with pytest.raises(BlockingIOError):
            self.datagrams.recv(1)
        return True


@pytest.fixture
def listeners(tmp_path: Path) -> Iterator[Listeners]:
    made = Listeners(tmp_path)
    yield made
    for each in made.all:
        each.close()


def as_started(program: str) -> list[str]:
    return [isolated.__name__, f"{program}:{FUNCTIONS[program]}"] if program in FUNCTIONS else [program]


@pytest.mark.parametrize("program", [name for name in PROGRAMS if name not in WITH_NETWORK])
def test_a_program_that_reads_files_reaches_nothing(program: str, listeners: Listeners, tmp_path: Path) -> None:
    """Each bounds its process before it looks at a file, and before it has threads."""
    reading, out = os.pipe()
    listeners.spy(tmp_path, out)
    # What the process for media takes for a file; the others end sooner or later because it is none of theirs.
    options = {"archive": False, "max_cpu_seconds": 10, "max_bytes": 1000}
    line = json.dumps({"source": str(tmp_path / "none"), "folder": str(tmp_path), "options": options, "seconds": 60})
    environment_ = environment() | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)])}
    subprocess.run(
        command(*as_started(program)),
        input=line.encode() + b"\n",
        capture_output=True,
        env=environment_,
        pass_fds=[out],
        timeout=120,
    )
    os.close(out)
    with os.fdopen(reading, "rb") as seen:
        assert json.loads(seen.read() or b"0") == [["EPERM", "EPERM", "EPERM", 1], 1]
    assert listeners.silent
    with socket.create_connection(listeners.stream.getsockname()):
        pass  # the server's own process still may


def test_the_list_of_programs_with_network_is_current() -> None:
    assert {*WITH_NETWORK} <= {*PROGRAMS} and len(PROGRAMS) > len(WITH_NETWORK) + 5
    assert {*FUNCTIONS} < {*PROGRAMS} and len(FUNCTIONS) == len(PROGRAMS) - 2
    modules = {name: import_module(name) for name in FUNCTIONS}
    assert all(callable(getattr(module, FUNCTIONS[name])) for name, module in modules.items())
    assert {name for name, module in modules.items() if module.LIMITS.network} == {*WITH_NETWORK}


def run(code: str) -> list[str]:
    """What a new process prints that may try things on itself."""
    code = "import os, socket\nfrom crowdd.kernel.concurrency import isolated\n" + code
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_asking_whether_it_is_possible_changes_nothing() -> None:
    assert run("print(isolated.is_possible()); socket.socket().close(); print(isolated.forbid())") == [
        "True",
        "True",
    ]


def test_a_system_that_allows_no_filters_is_told_of_and_the_process_is_bounded_all_the_same() -> None:
    """Here a filter refuses the call that sets filters, as a container may."""
    prctl = {"x86_64": 157, "aarch64": 167}[os.uname().machine]
    code = f"""
    here = isolated.ARCHITECTURES[os.uname().machine]
    assert isolated.refuse(here, [{prctl}])
    print(isolated.is_possible(), isolated.forbid())
    isolated.Limits(memory=2_000_000_000).apply()
    socket.socket().close()
    print(isolated.resource.getrlimit(isolated.resource.RLIMIT_AS)[0])
    """
    assert run(code.replace("\n    ", "\n")) == ["False", "False", "2000000000"]


@pytest.mark.parametrize(("machine", "number"), [("x86_64", 41), ("aarch64", 198)])
def test_the_filter_refuses_these_calls_and_all_of_other_architectures(machine: str, number: int) -> None:
    here = isolated.ARCHITECTURES[machine]
    code = isolated.filter_of(here, here.refused)
    refused, allowed = 0x0005_0001, 0x7FFF_0000
    assert {verdict(code, here.code, each) for each in (*here.refused, number, 0x4000_0000 | number)} == {refused}
    assert verdict(code, here.code, 0) == allowed
    assert verdict(code, 0x4000_0003, 0) == refused, "a call of 32 bits"


def verdict(code: bytes, architecture: int, number: int) -> int:
    """What the kernel would return for a system call, by the rules of classic BPF."""
    steps, place, value = [*isolated.struct.iter_unpack("=HBBI", code)], 0, 0
    while True:
        operation, then, otherwise, argument = steps[place]
        if operation == 0x06:
            return argument
        if operation == 0x20:
            value = {0: number, 4: architecture}[argument]
        else:
            held = value == argument if operation == 0x15 else value >= argument
            place += then if held else otherwise
        place += 1
