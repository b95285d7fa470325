"""Processes for heavy or risky work: start, limits, a seccomp filter against the network, and restarts.

A program is a function that a process of its own calls (``start``, ``call``), within the ``LIMITS`` of its module:

    python -m crowdd.kernel.concurrency.isolated MODULE:NAME ARGUMENT...

A ``HelperProcess`` has its libraries loaded and answers lines with lines. It waits: call it in a thread, one at a time.
All end with the server. Those that read files of others put a seccomp filter on themselves. It needs no rights, works
in containers and below systemd, and stays for all that such a process starts.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import resource
import select
import shutil
import signal
import stat
import struct
import subprocess
import sys
import time
import weakref
from collections.abc import Awaitable, Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import IO, TYPE_CHECKING, Any, Final

import attrs

from crowdd.kernel.concurrency.timing import back_off
from crowdd.kernel.errors import StoppedError

if TYPE_CHECKING:  # programs need none
    from crowdd.kernel.concurrency.worker_thread import WorkerThread

_HERE: Final = "crowdd.kernel.concurrency.isolated"
_ENVIRONMENT: Final = ("PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "TZ")
_ENDINGS: Final = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGHUP})


def command(module: str, *arguments: str) -> list[str]:
    """What runs a module of ours in the same Python."""
    return [sys.executable, "-P", "-m", module, *arguments]


def environment(**more: str) -> dict[str, str]:
    """What such a process needs of the server's environment, without settings and secrets."""
    return {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ} | more


def require_not_stopped(status: int) -> None:
    """Raises StoppedError if a process with this exit status was told to end: that says nothing of its work."""
    if -status in _ENDINGS:
        raise StoppedError("ending")  # the whole service is ending


def watch_server() -> None:
    """Has this process end when the server dies, which holds the other end of its standard input."""
    Thread(target=_end_with_server, daemon=True).start()


def _end_with_server() -> None:
    os.read(sys.stdin.fileno(), 1)
    os._exit(1)


_TRIES: Final = 2  # it may end, because it had nothing to do, just when a line comes
_PIECE: Final = 65_536
_LOOK_SECONDS: Final = 1.0  # after which a process is looked at again


def _processor_time(pid: int) -> float:
    """How many seconds a process that nobody has waited for has had the processor (clock_getcpuclockid(3))."""
    return time.clock_gettime((~pid << 3) | 2)


@attrs.define(eq=False, weakref_slot=True)
class HelperProcess:
    """``python -m program``, started when a line comes and none is there."""

    program: str
    _process: subprocess.Popen[bytes] | None = None
    _finalizer: Any = None

    def ask(self, line: bytes, seconds: float, *, of_processor: bool = False) -> tuple[bytes, int]:
        """The line that the process answers. Without one it has ended: b"", and how (negative: by that signal).

        It is ended when it takes more than so many seconds; ``of_processor``: of processor time, however long it has to
        wait for it on a busy machine.
        """
        until = time.monotonic() + seconds
        for _ in range(_TRIES):
            answer, ended = self._asked(line, until, seconds if of_processor else None)
            if answer or ended:
                return answer, ended
        return b"", -signal.SIGKILL

    def end(self) -> None:
        """Ends the process at once, with those that it has forked."""
        if self._finalizer is not None:
            self._finalizer()
        self._process = self._finalizer = None

    def _asked(self, line: bytes, until: float, processor_seconds: float | None) -> tuple[bytes, int]:
        process = self._started()
        end_at = None if processor_seconds is None else _processor_time(process.pid) + processor_seconds
        assert process.stdin is not None and process.stdout is not None
        answer = b""
        try:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(line)
            while not answer.endswith(b"\n"):
                wait = until - time.monotonic() if end_at is None else _LOOK_SECONDS
                if not select.select([process.stdout], [], [], max(0.0, wait))[0]:
                    if end_at is not None and _processor_time(process.pid) < end_at:
                        continue
                    return b"", -signal.SIGKILL
                piece = os.read(process.stdout.fileno(), _PIECE)
                if not piece:
                    return b"", process.wait()
                answer += piece
        finally:
            if not answer.endswith(b"\n"):
                self.end()
        return answer, 0

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:
            self.end()
        if self._process is None:
            self._process = subprocess.Popen(  # noqa: S603
                [*_quietly(), *command(self.program)],
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # a Ctrl-C in a terminal is for the server
                env=environment(),
            )
            self._finalizer = weakref.finalize(self, _end, self._process)
        return self._process


def _quietly() -> list[str]:
    """What lets the disk serve others first; some systems do not have it."""
    ionice = shutil.which("ionice")
    return [ionice, "-c", "3"] if ionice else []


def _end(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


class LimitError(Exception):
    """A program took too much, or failed. ``limit``: "seconds", or "status" where its process has ended by itself."""

    def __init__(self, limit: str) -> None:
        super().__init__(limit)
        self.limit = limit


@attrs.frozen(eq=False)
class RunningProgram:
    """A process that ``start`` has started."""

    _process: subprocess.Popen[bytes]

    @property
    def pid(self) -> int:
        return self._process.pid

    async def finish(self, worker_thread: WorkerThread, look: Callable[[], Awaitable[None]] | None = None) -> None:
        """Wait for its end. ``look`` is awaited each second; the process is ended when that raises something."""
        try:
            while not await worker_thread.do(self.wait, _LOOK_SECONDS):
                if look is not None:
                    await look()
        finally:
            self.end()

    def wait(self, seconds: float) -> bool:
        """Whether it has ended within so many seconds. Call it in a thread.

        Raises LimitError where it failed, StoppedError when it was told to end.
        """
        try:
            _require_success(self._process.wait(seconds))
        except subprocess.TimeoutExpired:
            return False
        return True

    def end(self) -> None:
        """Ends it at once, if it still runs."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()


def start(
    function: str,
    *arguments: str,
    output: int | IO[bytes] = subprocess.DEVNULL,
    more: Mapping[str, str] | None = None,
) -> RunningProgram:
    """Have a process of its own call a function (``module:name``). It ends with the server.

    Its module declares ``LIMITS``. What it returns (bytes) goes to ``output``. ``more`` is added to the environment.
    """
    return RunningProgram(_started(function, arguments, subprocess.PIPE, output, more))


def call(function: str, *arguments: str, seconds: float, more: Mapping[str, str] | None = None) -> bytes:
    """What a function returns, in so many seconds at most; see ``start``. Waits: call it in a thread.

    Raises LimitError where it takes longer or fails, StoppedError when it was told to end.
    """
    process = _started(function, arguments, subprocess.DEVNULL, subprocess.PIPE, more)
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise LimitError("seconds") from None
    _require_success(process.returncode)
    return output


def _started(
    function: str, arguments: Iterable[str], stdin: int, output: int | IO[bytes], more: Mapping[str, str] | None
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603
        command(_HERE, function, *arguments),
        stdin=stdin,  # a pipe is closed when the server dies, which ends the process
        stdout=output,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # a Ctrl-C in a terminal is for the server
        env=environment(**(more or {})),
    )


def _require_success(status: int) -> None:
    require_not_stopped(status)
    if status:
        raise LimitError("status")


def main() -> None:
    """Call the function that the first argument names with the others, within the ``LIMITS`` of its module."""
    module_name, _, name = sys.argv[1].partition(":")
    module = import_module(module_name)
    module.LIMITS.apply()
    if stat.S_ISFIFO(os.fstat(0).st_mode):
        watch_server()
    sys.stdout.buffer.write(getattr(module, name)(*sys.argv[2:]) or b"")


@attrs.frozen
class Architecture:
    """A machine as seccomp knows it: AUDIT_ARCH_* of its system calls, and the numbers of those that are refused."""

    code: int
    socket: int
    ptrace: int
    process_vm_writev: int
    io_uring_setup: int = 425  # it opens sockets without the call that does
    pidfd_getfd: int = 438  # it takes those of other processes

    @property
    def refused(self) -> tuple[int, ...]:
        """The system calls that lead to the network: new sockets, and getting hold of a process that may have some."""
        return self.socket, self.ptrace, self.process_vm_writev, self.io_uring_setup, self.pidfd_getfd


ARCHITECTURES: Final[Mapping[str, Architecture]] = {
    "x86_64": Architecture(0xC000_003E, socket=41, ptrace=101, process_vm_writev=311),
    "aarch64": Architecture(0xC000_00B7, socket=198, ptrace=117, process_vm_writev=271),
}
# linux/prctl.h, linux/seccomp.h, linux/bpf_common.h
_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _SECCOMP_MODE_FILTER = 22, 38, 2
_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER_AT, _ARCHITECTURE_AT = 0, 4  # in struct seccomp_data
_ALLOW, _REFUSE = 0x7FFF_0000, 0x0005_0000 | errno.EPERM
_FIRST_OF_X32: Final = 0x4000_0000  # the same calls by other numbers


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def is_possible() -> bool:
    """Whether ``forbid`` works here. Changes nothing: the kernel finds that the filter is missing, if it takes any."""
    return os.uname().machine in ARCHITECTURES and _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, None) == errno.EFAULT


def forbid() -> bool:
    """From now on this process gets EPERM for each socket that it opens; False where the system does not allow that.

    Call it before there are threads: it holds for the one that calls it, and for those that come after.
    """
    architecture = ARCHITECTURES.get(os.uname().machine)
    return architecture is not None and refuse(architecture, architecture.refused)


def refuse(architecture: Architecture, numbers: Iterable[int]) -> bool:
    """From now on this thread gets EPERM for these system calls; False where the system does not allow that."""
    code = filter_of(architecture, numbers)
    program = _Program(len(code) // 8, code)
    failed = _prctl(_PR_SET_NO_NEW_PRIVS, 1, None) or _prctl(
        _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program)
    )
    return not failed


def filter_of(architecture: Architecture, numbers: Iterable[int]) -> bytes:
    """The program for the kernel: refuses these calls, and all calls of other architectures."""
    refused = [(_JUMP_AT_LEAST, _FIRST_OF_X32), *((_JUMP_EQUAL, number) for number in numbers)]
    left = len(refused)
    code = [
        _step(_LOAD, _ARCHITECTURE_AT),
        _step(_JUMP_EQUAL, architecture.code, otherwise=left + 2),
        _step(_LOAD, _NUMBER_AT),
        *(_step(jump, value, then=left - place) for place, (jump, value) in enumerate(refused)),
        _step(_RETURN, _ALLOW),
        _step(_RETURN, _REFUSE),
    ]
    return b"".join(code)


def _step(code: int, value: int, *, then: int = 0, otherwise: int = 0) -> bytes:
    """A struct sock_filter; the jumps count the steps that are left out."""
    return struct.pack("=HBBI", code, then, otherwise, value)


def _prctl(option: int, argument: int, pointer: object) -> int:
    """0, or the errno of the failure."""
    libc = ctypes.CDLL(None, use_errno=True)
    zero = ctypes.c_ulong(0)
    result = libc.prctl(option, ctypes.c_ulong(argument), pointer, zero, zero)
    return ctypes.get_errno() if result else 0


@attrs.frozen
class Limits:
    """What a process may take: bytes of addresses, seconds of CPU, bytes of a file, open files; None: what it likes.

    ``niceness``: see ``yield_to_requests``. ``network``: whether it may open sockets.
    """

    memory: int | None = None
    cpu_seconds: int | None = None
    file_bytes: int | None = None
    open_files: int | None = None
    niceness: int = 0
    network: bool = False

    def apply(self) -> None:
        """Bounds this process, before it looks at anything of others and has threads. It leaves no core file."""
        if self.niceness:
            yield_to_requests(self.niceness)
        if not self.network:
            forbid()  # where the system can
        for what, maximum in (
            (resource.RLIMIT_AS, self.memory),
            (resource.RLIMIT_CPU, self.cpu_seconds),
            (resource.RLIMIT_FSIZE, self.file_bytes),
            (resource.RLIMIT_NOFILE, self.open_files),
            (resource.RLIMIT_CORE, 0),
        ):
            if maximum is not None:
                resource.setrlimit(what, (maximum, maximum))


def yield_to_requests(niceness: int, pid: int = 0) -> None:
    """Lets others have the processors before a process, this one unless told; 1 to 19.

    Linux may share the processors out by sessions first, so that a nice value counts within a session only (sched(7),
    autogroup). So the session that the process leads is nice as well. Nothing changes where the system forbids it.
    """
    with contextlib.suppress(PermissionError, ProcessLookupError):  # a service manager may forbid it
        os.setpriority(os.PRIO_PROCESS, pid, os.getpriority(os.PRIO_PROCESS, pid) + niceness)
    with contextlib.suppress(OSError):
        if os.getsid(pid) == (pid or os.getpid()):
            Path(f"/proc/{pid or 'self'}/autogroup").write_text(str(niceness), "ascii")


GROWTH = 2.0
STEADY_SECONDS = 60.0  # a process that ran so long begins with the first pause again


@attrs.define
class Restarts:
    """Counts the restarts of one process; ``clock`` gives seconds.

    Pauses grow from ``first`` to ``longest`` seconds. A process that does not run steadily is started again at most
    ``maximum`` times in a row, without end when it is None.
    """

    clock: Callable[[], float]
    first: float
    longest: float
    maximum: int | None = None
    _began: float = attrs.field(init=False)
    _in_a_row: int = attrs.field(init=False, default=0)

    @_began.default
    def _now(self) -> float:
        return self.clock()

    def began(self) -> None:
        """The process was started."""
        self._began = self.clock()

    def pause(self) -> float:
        """Count the end of the process; return the seconds until it is started again, unless that is ``exhausted``."""
        if self.clock() - self._began >= STEADY_SECONDS:
            self._in_a_row = 0
        self._in_a_row += 1
        return back_off(self._in_a_row, self.first, GROWTH, self.longest)

    @property
    def exhausted(self) -> bool:
        """Whether the process ended more than ``maximum`` times in a row."""
        return self.maximum is not None and self._in_a_row > self.maximum


if __name__ == "__main__":
    main()
