"""``crowdctl project``: whole projects."""

from __future__ import annotations

import click

from crowdd.admin_cli.commands.projects import folders, lists, snapshots, state, tasks
from crowdd.admin_cli.groups import Group


@click.group(cls=Group)
def project() -> None:
    """Manage projects: load, export, publish, pause, feature, transfer and delete them.

    PROJECT is an id or a short name.
    """


for command in (
    lists.list_projects, lists.show,
    state.publish, state.pause, state.feature, state.transfer, state.delete,
    folders.load, tasks.add_media, folders.export, tasks.import_, snapshots.snapshot,
):  # fmt: skip
    project.add_command(command)
