"""What takes longer than two seconds says on a terminal what it does and for how long; elsewhere it is silent."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from pathlib import Path

import psycopg2
import pytest
from support.servers.live import BIN


class Typed:
    """A command whose errors go to a terminal. ``shown``: what that has shown so far."""

    def __init__(self, words: list[str], environment: dict[str, str], place: Path) -> None:
        self._terminal, end = pty.openpty()
        self.process = subprocess.Popen(
            [BIN / "crowdctl", *words], env=environment, cwd=place, stdout=subprocess.PIPE, stderr=end, text=True
        )
        os.close(end)
        self.shown = ""

    def read_until(self, words: str) -> None:
        while words not in self.shown:
            self._read()

    def _read(self) -> None:
        try:
            self.shown += os.read(self._terminal, 4096).decode()
        except OSError:  # it was closed
            raise AssertionError(f"The command ended: {self.shown!r}") from None

    def end(self) -> str:
        output, _ = self.process.communicate(timeout=60)
        while True:
            try:
                self._read()
            except AssertionError:
                os.close(self._terminal)
                return output


@pytest.mark.proof
@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["check"], "s: Recounting every counter"),
        (["doctor"], "s: Looking at everything"),
        (["db", "upgrade"], "s: Upgrading the database"),
    ],
)
def test_a_command_that_takes_long_says_what_it_does_and_for_how_long(crowdctl, dsn, tmp_path, words, line) -> None:
    held = psycopg2.connect(dsn)
    held.cursor().execute("LOCK TABLE project, migration, definition IN ACCESS EXCLUSIVE MODE")
    typed = Typed(words, crowdctl.environment, tmp_path)
    typed.read_until(line)
    held.rollback()
    held.close()
    typed.end()
    assert any(f"\r\x1b[K{seconds} {line}" in typed.shown for seconds in (2, 3, 4)), typed.shown
    last = typed.shown.rpartition(line)[2]
    assert last.startswith("\r\x1b[K"), "the line goes at the end"


@pytest.mark.proof
def test_backup_and_restore_say_what_they_do_and_how_much(crowdctl, empty, tmp_path) -> None:
    word = tmp_path / "word"
    word.write_text("correct horse battery\n")
    site = {**crowdctl.environment, "CROWDD_DB_DSN": empty}
    crowdctl.json("db", "upgrade", CROWDD_DB_DSN=empty)
    made = Typed(["backup", "b.tar", "--passphrase-file", str(word)], site, tmp_path)
    assert "b.tar" in made.end() and re.search(r"\d bytes", made.shown), made.shown
    own = {**site, "CROWDD_DATA_DIR": str(tmp_path / "elsewhere"), "CROWDD_DB_DSN": ""}
    words = ["restore", "--yes", "--embedded", "b.tar", "--passphrase-file", str(word)]
    restored = Typed(words, own, tmp_path)
    assert "Restored what was committed" in restored.end() and re.search(r"\d bytes", restored.shown), restored.shown


def test_what_is_quick_shows_nothing(crowdctl, tmp_path) -> None:
    typed = Typed(["config", "where"], crowdctl.environment, tmp_path)
    assert "configuration" in typed.end() and typed.shown == ""
