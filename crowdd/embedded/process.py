"""Child processes: run as another user, end with their parent, wait for a condition."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

_LIBC = ctypes.CDLL(None, use_errno=True)
_SET_PARENT_DEATH_SIGNAL = 1
_THIS_FOLDER, _EXCHANGE = -100, 2
_STEP_SECONDS = 0.02


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    """True as soon as the condition holds, False when it does not within the time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(_STEP_SECONDS)
    return True


def ended_with_parent(number: signal.Signals) -> Callable[[], None]:
    """A ``preexec_fn`` after which the kernel sends the child this signal when we die, by whatever cause."""
    return partial(end_with, os.getpid(), number)


def end_with(parent: int, number: signal.Signals) -> None:
    """Has the kernel send this process a signal when its parent, which has that number, dies."""
    _LIBC.prctl(_SET_PARENT_DEATH_SIGNAL, int(number))
    # It may have died before; then nobody would tell us.
    if os.getppid() != parent:
        os.kill(os.getpid(), number)


def exchange(one: Path, two: Path) -> None:
    """Let two paths change places, in one step: whatever happens, both are there. Raises OSError."""
    names = os.fsencode(one), os.fsencode(two)
    if _LIBC.renameat2(_THIS_FOLDER, names[0], _THIS_FOLDER, names[1], _EXCHANGE):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(one))


def alive(pid: int) -> bool:
    """Whether a process of this number runs; one that ended and waits for its parent to ask does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"
