"""``crowdctl project``: whole projects."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import click
from rich.progress import Progress

from crowdd.admin_cli.output import console, json_option, say
from crowdd.admin_cli.running import with_domain
from crowdd.domain import folder, loading
from crowdd.domain.domain import Domain

_WORTH_WATCHING = 1000  # tasks


@click.group()
def project() -> None:
    """Projects."""


@project.command()
@click.argument("directory", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--owner", metavar="NAME", help="Whose a new project is; the first administrator's unless given.")
@click.option("--publish/--no-publish", default=None, help="Open it at the end, or leave it as it is.")
@click.option("--if-empty", is_flag=True, help="Do nothing when the server has a project already.")
@json_option
@click.pass_obj
def load(
    config: Path | None, directory: Path, owner: str | None, publish: bool | None, if_empty: bool, as_json: bool
) -> None:
    """Load the project in the folder DIRECTORY; loading it again brings it up to date and doubles nothing.

    The folder holds project.json (name, short_name, description, category, n_answers, published, info ...),
    presenter.html, results.html, tutorial.html, long_description.md, and tasks.ndjson or tasks.csv. Files that
    info names are uploaded.
    """
    with _watching(directory, as_json) as (source, progress):
        done = with_domain(
            config, lambda domain: _load(domain, source, if_empty, owner=owner, publish=publish, progress=progress)
        )
    say(as_json, done, _words(done))


async def _load(domain: Domain, source: folder.Folder, if_empty: bool, **how: Any) -> dict[str, Any] | None:
    if if_empty and await domain.projects.any_at_all():
        return None
    done = await loading.load(domain, source, **how)
    return {**attrs.asdict(done), "url": f"{domain.settings.base_url}/project/{done.short_name}/"}


@contextlib.contextmanager
def _watching(directory: Path, as_json: bool) -> Iterator[tuple[folder.Folder, Callable[[int], object]]]:
    """The folder, and what is to be told of progress: a bar where somebody may see it and there is time to."""
    source = folder.read(directory)
    if as_json or source.n_tasks <= _WORTH_WATCHING or not sys.stdout.isatty():
        yield source, lambda done: None
        return
    with Progress(console=console(), transient=True) as bar:
        tasks = bar.add_task("Loading tasks", total=source.n_tasks)
        yield source, lambda done: bar.update(tasks, completed=done)


def _words(done: dict[str, Any] | None) -> str:
    if done is None:
        return "There are projects already: nothing was loaded."
    verb = "Created" if done["created"] else "Updated"
    state = "published" if done["published"] else "not published"
    return f"{verb} {done['short_name']}: {done['added']} of {done['tasks']} tasks added, {state}. {done['url']}"
