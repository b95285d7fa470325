"""``twistd crowdd``: options and service."""

from __future__ import annotations

import os
import sys
from typing import Any

from twisted.internet import reactor as installed
from twisted.python import usage

from crowdd.app import Server
from crowdd.config import load
from crowdd.errors import CrowddError

reactor: Any = installed


class Options(usage.Options):
    """Options of ``twistd crowdd``."""

    optParameters = [["config", "c", None, "Configuration file (etc/crowdd.conf)."]]  # noqa: RUF012 - Twisted's way


def makeService(options: Any) -> Server:
    """The server as a service. A sentence and exit 1 for a configuration that cannot work."""
    try:
        server = Server(reactor, load(options["config"]))
    except CrowddError as error:
        sys.stderr.write(f"crowdd: {error}\n")
        raise SystemExit(1) from None
    reactor.addSystemEventTrigger("after", "shutdown", _exit, server)
    return server


def _exit(server: Server) -> None:
    """twistd itself always ends with 0; a server that could not start says so."""
    if server.exit_status:
        sys.stdout.flush()
        os._exit(server.exit_status)
