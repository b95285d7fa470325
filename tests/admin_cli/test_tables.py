"""Tables of crowdctl: they fit into the terminal, and nothing is lost with --wide and --json."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import termios

import pytest
from support.servers.live import BIN

from crowdd.admin_cli.output import fitted

LONG = "x" * 5000


@pytest.mark.parametrize(
    ("longest", "room", "widths"),
    [
        ([4, 10, 6], 80, [4, 10, 6]),
        ([4, 5000, 6], 80, [4, 66, 6]),
        ([4, 5000, 5000], 80, [4, 36, 36]),
        ([30, 30, 30], 46, [14, 14, 14]),
        ([9] * 13, 20, [1] * 13),
    ],
)
def test_long_columns_share_what_the_others_leave(longest, room, widths):
    assert fitted(longest, room) == widths


def on_a_terminal(crowdctl, *words: str, columns: int = 80) -> list[str]:
    """What a command prints on a terminal of so many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {name: text for name, text in crowdctl.environment.items() if name not in ("COLUMNS", "LINES")}
    with subprocess.Popen([BIN / "crowdctl", *words], env=environment, stdout=theirs, stdin=theirs) as process:
        os.close(theirs)
        output = b""
        while piece := _read(ours):
            output += piece
        assert process.wait() == 0
    os.close(ours)
    return output.decode().replace("\r", "").splitlines()


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # the other end is closed
        return b""


@pytest.fixture
def changed(crowdctl, rows):
    """The audit log has an act with a long value."""
    crowdctl.json("user", "create", "--name", "bob", "--email", "bob@example.org", "--password", "a good password")
    rows("UPDATE audit SET after = to_jsonb(%s::text)", LONG)
    return crowdctl


def test_a_table_fits_into_the_terminal(changed):
    """One change of 5,000 characters made every line of the audit log as long."""
    lines = on_a_terminal(changed, "audit", columns=160)
    plain = [line.replace("\x1b[1m", "").replace("\x1b[0m", "") for line in lines]
    assert len(plain) == 2 and max(map(len, plain)) <= 160
    assert "create" in plain[1] and "…" in plain[1]


def test_nothing_is_lost_with_wide_and_json(changed):
    assert LONG not in changed("audit").output and "…" in changed("audit").output
    assert max(map(len, changed("audit").output.splitlines())) < 500
    assert LONG in changed("audit", "--wide").output
    assert changed.json("audit")[0]["after"] == LONG
