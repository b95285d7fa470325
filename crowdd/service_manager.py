"""Tells the service manager how the server is (sd_notify(3)): a datagram to the socket that it names."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Mapping

NAMED_BY = "NOTIFY_SOCKET"
_BEATS_PER_WATCH = 3


class ServiceManager:
    """systemd, or nobody: then nothing is told."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        address = environment.get(NAMED_BY, "")
        self._address = "\0" + address[1:] if address.startswith("@") else address
        limit = environment.get("WATCHDOG_USEC", "")
        self.beat_seconds = int(limit) / 1_000_000 / _BEATS_PER_WATCH if limit.isdigit() else 0.0

    def ready(self, words: str) -> None:
        """The server does its work."""
        self._tell(f"READY=1\nSTATUS={words}")

    def status(self, words: str) -> None:
        """What it does just now."""
        self._tell(f"STATUS={words}")

    def reloading(self) -> None:
        """Settings are being read again; ``ready`` follows."""
        self._tell(f"RELOADING=1\nMONOTONIC_USEC={time.monotonic_ns() // 1000}")

    def stopping(self) -> None:
        """It comes to its end."""
        self._tell("STOPPING=1\nSTATUS=Requests under way end.")

    def heartbeat(self) -> None:
        """It is alive."""
        self._tell("WATCHDOG=1")

    def _tell(self, message: str) -> None:
        if not self._address:
            return
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sending:
            sending.setblocking(False)
            sending.sendto(message.encode(), self._address)
