"""Programs that tests start as a person does: in a session of their own, on folders that show what is left of them."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

from crowdd.database.embedded.cluster import alive


class Program:
    """A program in the foreground of its own terminal session; its output is read line by line."""

    def __init__(self, command: list[str], **keywords: object) -> None:
        self.began = time.monotonic()
        self.process = subprocess.Popen(  # type: ignore[call-overload]
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True, **keywords
        )
        self.output = ""

    def read_until(self, words: str) -> float:
        """Reads to the line with these words; returns the seconds since the start. Fails if they never come."""
        for line in self.process.stdout:
            self.output += line
            if words in line:
                return time.monotonic() - self.began
        raise AssertionError(f"{words!r} never came:\n{self.output}")

    def interrupt(self) -> int:
        """Ctrl-C: the signal goes to all of the foreground group. Returns the exit status."""
        os.killpg(self.process.pid, signal.SIGINT)
        return self.end()

    def end(self) -> int:
        """Reads what is left and returns the exit status."""
        self.output += self.process.stdout.read()
        return self.process.wait()


def spent_by(folder: Path) -> float:
    """Seconds of processor time that the processes of a folder took, with those of their children that have ended.

    A machine that is busy with something else makes a start longer, but hardly dearer.
    """
    ticks = 0
    for pid in processes_of(folder):
        with contextlib.suppress(OSError):
            ticks += sum(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def processes_of(folder: Path) -> dict[int, str]:
    """Command lines of the running processes that were told of a folder or work in it."""
    command_lines = {}
    sought = f"={folder}".encode()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            concerned = sought in (entry / "environ").read_bytes() or (entry / "cwd").readlink().is_relative_to(folder)
            if concerned and int(entry.name) != os.getpid() and alive(int(entry.name)):
                command_lines[int(entry.name)] = (entry / "cmdline").read_text().replace("\0", " ")
        except OSError:
            continue
    return command_lines
