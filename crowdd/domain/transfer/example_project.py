"""The example projects that come with crowdd, as projects of somebody's own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Final

import attrs

from crowdd.domain.core.package_data import shipped
from crowdd.domain.server.services import Services
from crowdd.domain.transfer import project_folder
from crowdd.domain.transfer.folder_import import find, load
from crowdd.domain.transfer.project_folder import Folder
from crowdd.errors import AnonymousError, ConflictError, NotFoundError
from crowdd.languages import _
from crowdd.requester import Requester

EXAMPLES: Final = ("digits", "ducks", "diary", "newspaper", "pond", "town", "island")
"""Their folders below examples; the first one is meant where none is named."""
_MAX_NAMES = 20


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
    found = await services.people.worker_thread.do(project_folder.read, source)
    known = {category["short_name"] for category in await services.projects.categories()}
    found = attrs.evolve(found, category=found.category if found.category in known else None)
    for copy in _copies(found, who.acting_user, who.user_name):
        for _attempt in range(2):  # a twin of this click may have been faster
            with suppress(ConflictError):  # or a stranger's project is called so
                return await _made(services, who, copy)
    raise ConflictError(_("No name is available for the example. Delete an earlier example first."))


async def _made(services: Services, who: Requester, copy: Folder) -> str:
    row = await find(services, copy.project["short_name"])
    if row is not None and row["owner_id"] == who.acting_user and row["n_tasks"]:
        return str(row["short_name"])
    return (await load(services, copy, who=who, publish=False, aside=services.people.worker_thread.do)).short_name


def _copies(found: Folder, user_id: int, user_name: str) -> Iterator[Folder]:
    """The example under one name after the other; the first is nearly always free."""
    for number in range(1, _MAX_NAMES + 1):
        more = f" {number}" if number > 1 else ""
        name = f"{found.project['name']} ({user_name}{more})"
        short_name = f"{found.project['short_name']}-{user_id}{more.replace(' ', '-')}"
        yield attrs.evolve(found, project={**found.project, "name": name, "short_name": short_name})
