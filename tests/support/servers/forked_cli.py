"""Runs installed programs in processes that are forked from one which has imported their modules already.

The modules are its arguments; without any, those of crowdctl. It runs in every Python, without the tests' packages.

Each run is a process with its own environment, folder, files and end, and begins at the first line of the installed
script; only the half second is saved that importing takes. The reactor is never imported here: each process has to
make its own.

A request is a line of JSON, ``[number, argv, environment, folder, standard input, standard output, standard error]``, the
last three by the paths of files. The answer is a line with the number and the exit status.
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import sys
import traceback
from collections.abc import Sequence
from typing import Any

MODULES = (
    "click.shell_completion",
    "click_man.core",
    "crowdd.core.base",
    "crowdd.features.operations.doctor",
    "crowdd.core.passphrase",
    "crowdd.features.media.stores",
    "crowdd.features.gallery.folders",
    "crowdd.features.gallery.folder_export",
    "crowdd.features.gallery.folder_import",
    "crowdd.features.movein.runner",
    "crowdd.features.snapshots.contents",
    "crowdd.http.errors",
    "crowdd.sched.job_runner",
    "crowdd.sched.nodes",
    "crowdd.sched.job_runner",
    "crowdd.sched.queue_worker",
    "crowdd.sched.queue_worker",
    "crowdd.database.embedded",
    "rich.progress",
    "rich.table",
    "twisted.internet.epollreactor",
    "zxcvbn",
)


def serve(modules: Sequence[str]) -> None:
    """Answers requests until there are no more."""
    for name in modules:
        importlib.import_module(name)
    assert "twisted.internet.reactor" not in sys.modules
    _quicken(sys.modules.get("crowdd.core.passphrase"))
    for line in sys.stdin:
        number, *request = json.loads(line)
        process = os.fork()
        if process == 0:
            _be(*request)
        _, status = os.waitpid(process, 0)
        print(number, os.waitstatus_to_exitcode(status), flush=True)


def _quicken(passphrase: Any) -> None:
    """Keys are made of passphrases as always, but quickly; tests/docs/test_install.py makes one at its full cost."""
    if passphrase is not None:
        passphrase._COST = {"time_cost": 1, "memory_kib": 64, "lanes": 1}


def _be(argv: Sequence[str], environment: dict[str, str], folder: str, *files: str) -> Any:
    """Becomes the program."""
    os.setsid()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for number, path in enumerate(files):
        opened = os.open(path, os.O_RDONLY if number == 0 else os.O_WRONLY)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w")
    sys.argv = [*argv]
    status = 1
    try:
        runpy.run_path(argv[0], run_name="__main__")
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    serve(sys.argv[1:] or MODULES)
