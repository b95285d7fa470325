"""A volunteer who asks for a task twenty times a second, in a process of its own: others' work does not delay it.

    python -m bench.support.asking http://127.0.0.1:8000/api/project/1/newtask

Each request is a line: when it began by the monotonic clock and how long it took, both in seconds; -1 for one that
failed.
"""

from __future__ import annotations

import sys
import time

import requests

PAUSE = 0.05  # seconds


def main(address: str) -> None:
    """Asks until it is ended."""
    with requests.Session() as session:
        while True:
            began = time.monotonic()
            try:
                session.get(address, timeout=60)
                taken = time.monotonic() - began
            except requests.ConnectionError:
                taken = -1.0
            print(f"{began:.6f} {taken:.6f}", flush=True)
            time.sleep(PAUSE)


if __name__ == "__main__":
    main(sys.argv[1])
