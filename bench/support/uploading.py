"""Sends the files of a folder to a batch of media as the page does: in parts, four at a time, only what is missing.

    python -m bench.support.uploading http://127.0.0.1:8000 KEY /project/birds/tasks/media/1 FOLDER

It goes on where a connection was cut, and where it was killed itself. When all has come, it closes the batch and prints
the bytes of its largest request.
"""

from __future__ import annotations

import base64
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import requests

from crowdd.kernel.concurrency.isolated import yield_to_requests

PART = 4_194_304  # bytes
AT_ONCE = 4
TRIES = 300
PAUSE = 0.2  # seconds
_TUS = {"Tus-Resumable": "1.0.0"}
_PART = {**_TUS, "Content-Type": "application/offset+octet-stream"}
_CREATED, _APPENDED, _AGAIN, _BUSY = 201, 204, (409, 423), 429


class Sender:
    """One client of one batch."""

    def __init__(self, url: str, key: str, batch: str) -> None:
        self._url, self._batch = url, url + batch
        self._headers = {"Authorization": key, "Accept": "application/json"}
        self._own = threading.local()
        self.largest = 0

    @property
    def _session(self) -> requests.Session:
        if not hasattr(self._own, "session"):
            self._own.session = requests.Session()
            self._own.session.headers.update(self._headers)
        session: requests.Session = self._own.session
        return session

    def known(self) -> dict[str, str]:
        """The states of the files that the server has, by their keys."""
        states, after = {}, 0
        while after is not None:
            answer = self._session.get(f"{self._batch}/files?after={after}", timeout=60)
            answer.raise_for_status()
            states |= {each["key"]: each["state"] for each in answer.json()["files"]}
            after = answer.json()["next"]
        return states

    def send(self, path: Path) -> None:
        """One file, however often the connection breaks. Raises RuntimeError for a refusal."""
        content, offset, url = path.read_bytes(), 0, ""
        for _ in range(TRIES):
            try:
                if not url:
                    url, offset = self._begin(path.name, content)
                while offset < len(content):
                    offset = self._append(url, offset, content)
                return
            except requests.ConnectionError:
                time.sleep(PAUSE)
        raise RuntimeError(f"{path.name} did not arrive after {TRIES} tries.")

    def _begin(self, name: str, content: bytes) -> tuple[str, int]:
        words = ",".join(f"{k} {base64.b64encode(name.encode()).decode()}" for k in ("filename", "key"))
        first = content[:PART]
        headers = {**_PART, "Upload-Length": str(len(content)), "Upload-Metadata": words}
        answer = self._session.post(f"{self._batch}/files", data=first, headers=headers, timeout=120)
        self.largest = max(self.largest, len(first))
        if answer.status_code != _CREATED:
            self._refused(answer)
        return self._url + answer.headers["Location"], int(answer.headers["Upload-Offset"])

    def _append(self, url: str, offset: int, content: bytes) -> int:
        part = content[offset : offset + PART]
        headers = {**_PART, "Upload-Offset": str(offset)}
        answer = self._session.patch(url, data=part, headers=headers, timeout=120)
        self.largest = max(self.largest, len(part))
        if answer.status_code == _APPENDED:
            return int(answer.headers["Upload-Offset"])
        self._refused(answer)
        return int(self._session.head(url, headers=_TUS, timeout=60).headers["Upload-Offset"])

    def _refused(self, answer: requests.Response) -> None:
        """Waits where a later try may do; raises RuntimeError otherwise."""
        if answer.status_code in (*_AGAIN, _BUSY) or answer.status_code >= 500:
            time.sleep(PAUSE)
            if answer.status_code not in _AGAIN:
                raise requests.ConnectionError(answer.text)
        else:
            raise RuntimeError(answer.text[:500])

    def close(self) -> None:
        """All files have come."""
        self._session.post(f"{self._batch}/close", json={}, timeout=60).raise_for_status()


def main(url: str, key: str, batch: str, folder: str) -> int:
    """Sends what is missing, and gives way: people have a machine of their own for it."""
    yield_to_requests(19)
    sender = Sender(url, key, batch)
    known = sender.known()
    missing = [path for path in sorted(Path(folder).iterdir()) if known.get(path.name, "arriving") == "arriving"]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for _ in pool.map(sender.send, missing):
            pass
    sender.close()
    print(sender.largest)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
