"""A mail server in a process of its own, for tests that wait for something else meanwhile: a browser, a program."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

from support.servers.mailbox import Mailbox

_SECONDS = 60


class MailServer:
    """Letters are files below ``folder``. ``settings`` are those of a crowdd that sends its letters here."""

    def __init__(self, folder: Path, refusals: Mapping[str, int] | None = None) -> None:
        """``refusals``: with which status which recipients are refused."""
        self.folder = folder
        folder.mkdir()
        tests = str(Path(__file__).parents[2])
        environment = {**os.environ, "PYTHONPATH": tests}
        command = [sys.executable, "-m", "support.servers.mail_server", str(folder), json.dumps(refusals or {})]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        assert self._process.stdout is not None
        port = self._process.stdout.readline().strip()
        self.settings = {
            "CROWDD_MAIL_HOST": "127.0.0.1",
            "CROWDD_MAIL_PORT": port,
            "CROWDD_MAIL_TLS": "off",
            "CROWDD_MAIL_SENDER": "birds@example.org",
        }

    def link_to(self, address: str, path: str) -> str:
        """The link to a path of the site in the newest letter to an address, as soon as there is one."""
        end = time.monotonic() + _SECONDS
        while time.monotonic() < end:
            for letter in reversed(self.letters(address)):
                links = re.findall(r"https?://\S+", letter.get_body(("plain",)).get_content())
                if letters := [link for link in links if path in link]:
                    return letters[0]
            time.sleep(0.05)
        raise AssertionError(f"no letter with {path} came to {address}")

    def letters(self, address: str) -> list[EmailMessage]:
        """Those to an address, in the order in which they came."""
        texts = [path.read_bytes() for path in sorted(self.folder.glob("*.eml"))]
        messages = [message_from_bytes(text, policy=policy.default) for text in texts]
        return [message for message in messages if address in message["To"]]

    def stop(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.wait()


class _Folder(list):  # type: ignore[type-arg]
    """Letters, each of which becomes a file when it comes."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    def append(self, letter: tuple[str, EmailMessage]) -> None:
        super().append(letter)
        part = self._folder / f"{len(self):06}.part"
        part.write_bytes(letter[1].as_bytes())
        part.rename(part.with_suffix(".eml"))


def _serve(folder: Path, refusals: dict[str, int]) -> None:
    from twisted.internet import reactor

    mailbox = Mailbox(reactor)
    mailbox.letters, mailbox.refusals = _Folder(folder), refusals
    print(mailbox.listen(), flush=True)
    reactor.run()  # type: ignore[attr-defined]


if __name__ == "__main__":
    _serve(Path(sys.argv[1]), json.loads(sys.argv[2]))
