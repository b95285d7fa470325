"""The example projects that come with crowdd, as projects of somebody's own."""

from __future__ import annotations

from functools import partial
from typing import Final

import attrs

from crowdd.domain.core.package_data import shipped
from crowdd.domain.server.services import Services
from crowdd.domain.transfer import project_folder
from crowdd.domain.transfer.folder_import import find, load
from crowdd.domain.transfer.gallery.own_copies import copies, first_made
from crowdd.domain.transfer.project_folder import Folder
from crowdd.errors import AnonymousError, NotFoundError
from crowdd.languages import _
from crowdd.requester import Requester

EXAMPLES: Final = ("digits", "ducks", "diary", "newspaper", "pond", "town", "island")
"""Their folders below examples; the first one is meant where none is named."""


async def own_example(services: Services, who: Requester, name: str = "") -> str:
    """The short name of the requester's own copy of an example, a draft.

    It is created once: a person who has it, however changed, is led to it. One that was deleted, or has another short
    name, is created again; one that is incomplete is completed. Raises AnonymousError, ConflictError, NotFoundError.
    """
    if who.acting_user is None:
        raise AnonymousError(_("Sign in first."))
    if name and name not in EXAMPLES:
        raise NotFoundError(_("No example has this name."))
    source = shipped(f"examples/{name or EXAMPLES[0]}")
    folder = await services.people.worker_thread.do(project_folder.read, source)
    known = {category["short_name"] for category in await services.projects.categories()}
    folder = attrs.evolve(folder, category=folder.category if folder.category in known else None)
    return await first_made(copies(folder, who), partial(_made, services, who))


async def _made(services: Services, who: Requester, copy: Folder) -> str:
    row = await find(services, copy.project["short_name"])
    if row is not None and row["owner_id"] == who.acting_user and row["n_tasks"]:
        return str(row["short_name"])
    return (await load(services, copy, who=who, publish=False, aside=services.people.worker_thread.do)).short_name
