"""The programs of bench by name.

    python -m bench                    lists them
    python -m bench NAME [OPTIONS]     runs one; --help says what it takes

bench/README.md says what each shows, and bench/RESULTS.md what came out.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from typing import Final

import attrs

from bench import ROOT


@attrs.frozen
class Program:
    """``modules`` run one after the other, with their options. ``needs``: a program of the system, and its package."""

    says: str
    modules: tuple[str, ...]
    needs: tuple[str, str] | None = None
    environment: Mapping[str, str] = {}


_SPINE: Final = (
    "pytest -m 'not browser and not inside' tests/test_loop.py tests/test_crowd.py tests/test_exact.py"
    " tests/test_daemon.py tests/api/tasks/test_newtask.py"
    " tests/api/tasks/test_leases.py tests/api/tasks/test_task_runs.py"
    " tests/pages/test_live.py"
)
_HOSTILE_SOURCES: Final = (
    "pytest -q tests/pages/imports/test_hostile_sources.py tests/pages/imports/test_import_iiif.py"
    " tests/domain/media/test_preparing_pictures.py tests/domain/media/test_preparing_sound.py"
    " tests/domain/media/test_unpacking.py -k 'hostile or inside or scripts or behind or bombs or refused'"
)

PROGRAMS: Final[Mapping[str, Program]] = {
    "analyses": Program(
        "a million answers by each method", ("bench.budgets.analyses", "bench.budgets.analysis_beside")
    ),
    "audit": Program("known weaknesses of what crowdd needs", ("bench.release.audit",)),
    "backup": Program("a backup while people work, and its restore", ("bench.backups.backup",)),
    "budgets": Program("CPU of each page and of dear parts", ("bench.budgets.pages", "bench.budgets.parts")),
    "busy": Program("consensus on a busy machine, with kills", ("bench.busy",)),
    "class-room": Program("30 people behind one address", ("bench.class_room",)),
    "compare": Program("two trees in turns on one machine", ("bench.compare",)),
    "copies": Program("a project that moves with all it has", ("bench.transfer.copies",)),
    "cost": Program("CPU of a pair of task and answer", ("bench.cost",)),
    "crowd": Program("a crowd that does odd things", ("bench.crowd",)),
    "crowd-kills": Program("the same, and the server is killed", ("bench.crowd --kill-every 5",)),
    "damaged": Program("damaged files of tasks", ("bench.fuzz.damaged_files",)),
    "demo": Program("a site with finished projects and simulated people", ("bench.demo",)),
    "exact": Program("exact redundancy under every scheduler", ("bench.exact",)),
    "exports": Program("files of a large project", ("bench.transfer.exports",)),
    "first-hour": Program("an owner's first hour in Chromium", ("bench.budgets.first_hour",)),
    "full-disks": Program("disks that are full", ("bench.full_disks",)),
    "ha": Program("failover of three machines", ("bench.ha",)),
    "hands": Program("intents of volunteers, acted out in Chromium", ("hands.run",)),
    "hostile": Program("attacks on a server while people work", ("bench.hostile",)),
    "hostile-files": Program("hostile files of tasks", ("bench.fuzz.hostile_files", _HOSTILE_SOURCES)),
    "hot": Program("the rate of pairs beside bare functions", ("bench.hot",)),
    "house": Program("what the source tree costs its readers", ("bench.house",)),
    "idle": Program("statements of a server that nobody asks", ("bench.budgets.idle",)),
    "images": Program("container images are named by digest", ("bench.release.images",)),
    "imports": Program("files of a million tasks", ("bench.transfer.imports",)),
    "large-project": Program("pages of a project with 100,000 tasks", ("bench.budgets.large_project",)),
    "live": Program("ten thousand who watch", ("bench.live",)),
    "media": Program("pictures and hostile files, prepared", ("bench.transfer.media",)),
    "move-in": Program("a PyBossa server that moves in", ("bench.transfer.move_in",)),
    "museum": Program("a museum's pictures", ("bench.transfer.museum",)),
    "nodes": Program("two servers behind HAProxy", ("bench.nodes",), needs=("haproxy", "haproxy")),
    "page-flood": Program("pages as fast as 64 clients ask", ("bench.budgets.page_flood",)),
    "paint": Program("how soon a task is there", ("bench.paint", "bench.first_task")),
    "pitr": Program("a database as it was at a moment", ("bench.backups.pitr",), needs=("pgbackrest", "pgbackrest")),
    "reads": Program("reads as a share of the floor", ("bench.reads",)),
    "release": Program("the files of a release, built twice and compared", ("bench.release.release",)),
    "sbom": Program("the list of what crowdd consists of", ("bench.release.sbom",)),
    "slow-reads": Program("dear lists while people work", ("bench.budgets.slow_reads",)),
    "soak": Program("an hour of work", ("bench.soak",)),
    "spine-workers": Program("the main tests on two processes", (_SPINE,), environment={"CROWDD_DAEMON_WORKERS": "2"}),
    "storm": Program("a database that comes and goes", ("bench.storm",)),
    "strings": Program("every text that people read", ("crowdd.kernel.languages.strings",)),
    "trust": Program("what adaptive redundancy saves", ("bench.trust",)),
    "trust-crowds": Program("whether confidence says how many results are right", ("bench.trust.measured",)),
    "trust-cost": Program("what trust costs", ("bench.budgets.trust_cost",)),
    "truth": Program("consensus of known truths", ("bench.truth",)),
    "upload-folder": Program("a folder of 1,000 pictures", ("bench.transfer.upload_folder",)),
    "vendor": Program("libraries of the browser, fetched again", ("bench.release.vendor",)),
    "walk": Program("a newcomer's walk in Chromium", ("bench.budgets.walk",)),
    "webhooks": Program("webhooks while receivers fail", ("bench.webhooks",)),
    "wheel": Program("the wheel, installed elsewhere", ("bench.release.wheel",)),
}


def main(arguments: list[str]) -> int:
    """List the programs, or run one; the exit status is the first that is not 0."""
    if not arguments or arguments[0] not in PROGRAMS:
        print("\n".join(f"  {name:14}{program.says}" for name, program in sorted(PROGRAMS.items())))
        if arguments:
            print(f"There is no program {arguments[0]}.", file=sys.stderr)
        return int(bool(arguments))
    program = PROGRAMS[arguments[0]]
    path = f"{os.environ.get('PATH', '')}:/usr/sbin"
    if program.needs and shutil.which(program.needs[0], path=path) is None:
        print(
            f"{program.needs[0]} is not installed: apt-get install -y --no-install-recommends {program.needs[1]}",
            file=sys.stderr,
        )
        return 1
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests"), **program.environment}
    for module in program.modules:
        command = [sys.executable, "-m", *shlex.split(module), *arguments[1:]]
        if status := subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode:
            return status
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
