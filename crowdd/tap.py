"""``twistd crowdd``: options and service."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
from twisted.internet import reactor as installed
from twisted.python import usage

from crowdd.kernel.config import Settings, load
from crowdd.kernel.config.location import describe_config, find_config
from crowdd.kernel.errors import CrowddError
from crowdd.kernel.lazy import lazy
from crowdd.kernel.logs import JOURNAL, EventWriter, is_journal, standard_output
from crowdd.kernel.process import Program, ServiceManager
from crowdd.kernel.reactor import keep_steady

if TYPE_CHECKING:
    from crowdd import app, workers
else:
    app, workers = lazy("crowdd.app"), lazy("crowdd.workers")

# What is imported from here on stays as long as the process. To look for garbage in it again and again would take a
# fifth of the start. A server that has started sets another number.
gc.set_threshold(100_000, 20, 100)

reactor: Any = installed  # mypy knows a module here, without the methods


class Options(usage.Options):
    """Options of ``twistd crowdd``."""

    optParameters = [  # noqa: RUF012 - Twisted's way
        ["config", "c", None, "Configuration file (default: as crowdctl finds it)."],
        ["worker", None, None, "For crowdd itself: the number of a process that another one started."],
    ]


def makeService(options: Options) -> Program:
    """The server as a service. A sentence and exit 1 for a configuration that cannot work."""
    keep_steady(reactor)
    config = find_config(options["config"], os.environ, Path())
    try:
        program = _program(options, config)
    except CrowddError as error:
        words = " ".join(filter(None, (str(error), error.hint)))
        sys.stderr.write(f"crowdd: {words}\nConfiguration: {describe_config(config, os.environ)}.\n")
        raise SystemExit(1) from None
    reactor.addSystemEventTrigger("after", "shutdown", _exit, program)
    return program


def _program(options: Options, config: Path | None) -> Program:
    worker = options["worker"] or ""
    twistd: Mapping[str, str] = options.parent or {}

    def read() -> Settings:
        return _with_log_file(load(config), twistd.get("logfile") or "")

    settings = read()
    in_front = bool(worker or twistd.get("nodaemon"))
    if not worker and not is_journal(os.environ, 1):
        os.environ.pop(JOURNAL, None)  # of another process. Workers write to us, and learn by it where their lines go
    timed = JOURNAL not in os.environ
    output = standard_output() if in_front else None
    journal = EventWriter(settings, output, worker=worker.partition("/")[0], timed=timed)
    manager = ServiceManager({} if worker else os.environ)
    program = Program(reactor, settings, journal, manager, read)
    if worker:
        listener, node = workers.begin(worker, settings)
        program.serve(app.Server(reactor, settings, listener, workers.say_ready, node))
    elif settings.daemon.workers > 1:
        program.serve(workers.Workers(reactor, settings, config, journal, when_ready=program.ready))
    else:
        program.serve(app.Server(reactor, settings, when_ready=program.ready))
    return program


def _with_log_file(settings: Settings, named: str) -> Settings:
    """twistd's own --logfile comes first; "-" is standard output."""
    if not named:
        return settings
    return attrs.evolve(settings, log=attrs.evolve(settings.log, file="" if named == "-" else named))


def _exit(program: Program) -> None:
    """twistd itself always ends with 0; a server that could not start says so."""
    if program.exit_status:
        sys.stdout.flush()
        os._exit(program.exit_status)
