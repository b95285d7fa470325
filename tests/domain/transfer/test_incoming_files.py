"""Files that arrive in parts: how long one is on the disk says how much of it has come, also after a kill."""

from __future__ import annotations

import fcntl
import hashlib
import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from crowdd.features.media.incoming_files import ChecksumError, IncomingFiles, LockedFileError, Part, WrongOffsetError
from crowdd.kernel.errors import InvalidValueError, NotFoundError, UnavailableError


def part(offset: int, content: bytes, checksum: tuple[str, bytes] | None = None) -> Part:
    return Part(offset, io.BytesIO(content), len(content), checksum)


@pytest.fixture
def files(tmp_path: Path) -> IncomingFiles:
    made = IncomingFiles(tmp_path / "media", 0)
    made.begin(7)
    return made


def test_parts_are_appended_in_their_order(files):
    assert files.offset(7) == 0
    assert files.append(7, part(0, b"abc"), 5) == 3
    files.begin(7)  # again: it stays
    with pytest.raises(WrongOffsetError) as refused:
        files.append(7, part(0, b"abc"), 5)
    assert refused.value.offset == 3
    with pytest.raises(InvalidValueError):
        files.append(7, part(3, b"def"), 5)
    assert files.append(7, part(3, b"de"), 5) == files.offset(7) == 5
    assert files.path(7).read_bytes() == b"abcde"


def test_a_part_with_a_wrong_checksum_leaves_nothing(files):
    files.append(7, part(0, b"abc", ("sha1", hashlib.sha1(b"abc").digest())), 9)
    with pytest.raises(ChecksumError):
        files.append(7, part(3, b"x" * 6, ("sha256", b"0" * 32)), 9)
    assert files.offset(7) == 3
    assert files.append(7, part(3, b"def", ("sha256", hashlib.sha256(b"def").digest())), 9) == 6


def test_only_one_writes_a_file_at_a_time(files):
    with files.path(7).open("r+b") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(LockedFileError):
            files.append(7, part(0, b"abc"), 3)
    assert files.append(7, part(0, b"abc"), 3) == 3


def test_what_is_not_there_and_a_full_disk_are_refused(files, tmp_path):
    with pytest.raises(NotFoundError):
        files.offset(8)
    with pytest.raises(NotFoundError):
        files.append(8, part(0, b"a"), 1)
    with pytest.raises(UnavailableError):
        IncomingFiles(files.folder, 2**62).append(7, part(0, b"a"), 1)


WRITER = """
import sys
from pathlib import Path
from crowdd.features.media.incoming_files import IncomingFiles, Part

class Slow:
    "A part that names its pieces as they are read; so its reader can be killed between two of them."
    def __init__(self): self.n = 0
    def seek(self, at): pass
    def read(self, n):
        print(self.n, flush=True)
        sys.stdin.readline()
        self.n += 1
        return bytes([self.n % 251]) * 1000

IncomingFiles(Path(sys.argv[1]), 0).append(7, Part(0, Slow(), 1_000_000), 1_000_000)
"""


def test_after_a_kill_the_length_on_the_disk_is_where_the_client_goes_on(files):
    program = [sys.executable, "-c", WRITER, str(files.folder)]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        for _ in range(3):
            assert writer.stdout.readline()
            writer.stdin.write("\n")
            writer.stdin.flush()
        assert writer.stdout.readline()  # three pieces are written, the fourth is asked for
        os.kill(writer.pid, signal.SIGKILL)
    offset = files.offset(7)
    assert offset == 3000
    whole = b"".join(bytes([n % 251]) * 1000 for n in range(1, 1001))
    assert files.append(7, part(offset, whole[offset:]), len(whole)) == len(whole)
    assert files.path(7).read_bytes() == whole


def test_old_files_are_listed_for_the_sweep(files):
    os.utime(files.path(7), (1000, 1000))
    files.begin(8)
    assert files.files(before=2000.0) == [7]
    with files.working_folder(9) as folder:
        (folder / "x").write_bytes(b"x")
        files.take(9, folder / "x")
    assert not folder.exists() and files.offset(9) == 1
