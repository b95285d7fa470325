"""schemathesis against the API, with all its checks: ``python -m bench.fuzz.schemathesis``.

As an administrator, as the owner of a project, and without a key, each for so many seconds. Ends with 1 when one of the
runs finds a fault; what is excused, and why, stands in tests/support/checks/conformance_hooks.py.
"""

from __future__ import annotations

import click
from support.checks import conformance

from bench.support import testbed

TASKS = 80
CALLERS = ("administrator", "owner", "nobody")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--seconds", default=300, show_default=True, help="How long each of the three runs is to take.")
@click.option("--seed", type=int, help="Repeats the run of this seed.")
@click.option(
    "--as", "callers", type=click.Choice(CALLERS), multiple=True, default=CALLERS, help="Only as one of these."
)
def main(seconds: int, seed: int | None, callers: tuple[str, ...]) -> None:
    """Tries to prove the OpenAPI document wrong."""
    words = [f"--phases={conformance.ALL_PHASES}", f"--max-time={seconds}", *([f"--seed={seed}"] if seed else [])]
    with testbed.folder() as place, testbed.postgres(place) as postgres, testbed.crowdd(postgres.dsn, place) as server:
        administrator = conformance.administrator(server, "conformance")
        failed = []
        for caller in callers:
            # One that no earlier caller could have closed to the next.
            project = testbed.project(server, tasks=TASKS, n_answers=10)
            keys = {"administrator": administrator.key, "owner": project.owner.key, "nobody": ""}
            click.secho(f"As {caller}", bold=True)
            done = conformance.check(server.url, place, project.id, *words, key=keys[caller])
            click.echo(done.stdout)
            failed += [caller] * (done.returncode != 0)
        complaints = testbed.complaints(server)
        click.echo("\n".join(["In the server's log:", *(complaints or ["nothing"])]))
    if failed or complaints:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
