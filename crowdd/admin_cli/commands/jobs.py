"""``crowdctl jobs``: periodic jobs."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from crowdd.admin_cli.groups import Group
from crowdd.admin_cli.output import json_option, listing, say
from crowdd.admin_cli.runtime import reactor, with_domain
from crowdd.domain.server.services import Services
from crowdd.errors import NotFoundError
from crowdd.sched.job import Job
from crowdd.sched.job_runner import JobRunner, RunResult
from crowdd.sched.schedule import OVERVIEW, every_job, overview
from crowdd.storage.server import jobs as stored

_LOG = ("began", "seconds", "outcome", "words")
_WORDS = {
    "busy": "{name} runs in another process just now.",
    "broken": "The process of the last run of {name} ended before the job did. This is now recorded. Run it again.",
}


@click.group(cls=Group)
def jobs() -> None:
    """Manage periodic jobs."""


@jobs.command("list")
@json_option
@click.pass_obj
def list_jobs(config: Path | None, as_json: bool) -> None:
    """List the periodic jobs with the result of the last run and the time of the next."""
    listing(as_json, with_domain(config, lambda services: overview(services.db, services.settings)), OVERVIEW)


@jobs.command("show")
@click.argument("name")
@click.option("--limit", default=20, show_default=True, help="Maximum number of runs.")
@json_option
@click.pass_obj
def show(config: Path | None, name: str, limit: int, as_json: bool) -> None:
    """List the logged runs of the job NAME, newest first.

    For jobs that run more often than once a minute, only failed runs are logged.
    """
    _find(name)
    listing(as_json, with_domain(config, lambda services: stored.log(services.db, name, limit)), _LOG)


@jobs.command()
@click.argument("name")
@json_option
@click.pass_obj
def run(config: Path | None, name: str, as_json: bool) -> None:
    """Run the job NAME now, even if it is not due. Refused while the server runs it."""
    job = _find(name)
    result = with_domain(config, lambda services: _run_now(services, job))
    done: dict[str, object] = {"name": name, "outcome": result.state, "seconds": result.seconds, "words": result.words}
    message = _WORDS.get(result.state, "{name} {outcome}: {words}").format(**done)
    say(as_json, done, message)
    if result.state != "done":
        sys.exit(1)


async def _run_now(services: Services, job: Job) -> RunResult:
    # A command has one connection. Its session holds the lock while the job runs in it.
    return await JobRunner(reactor, services.db, [job], lambda job: job.work(services)).run(job, force=True)


def _find(name: str) -> Job:
    for job in every_job():
        if job.name == name:
            return job
    raise NotFoundError(f"Unknown job {name}.", hint="To list the jobs: crowdctl jobs list")
