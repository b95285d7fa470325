"""Copies of project folders as drafts of somebody's own, each under a name that is free."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import suppress
from typing import Final

import attrs

from crowdd.domain.transfer.project_folder import Folder
from crowdd.errors import ConflictError
from crowdd.languages import _
from crowdd.requester import Requester

_MAX_NAMES: Final = 50


def copies(folder: Folder, who: Requester) -> Iterator[Folder]:
    """The folder under one name after the other; the first is nearly always free."""
    name, short_name = folder.project["name"], folder.project["short_name"]
    for number in range(1, _MAX_NAMES + 1):
        more = f" {number}" if number > 1 else ""
        address = f"{short_name}-{who.user_id}{more.replace(' ', '-')}"
        other = {"name": f"{name} ({who.user_name}{more})", "short_name": address}
        yield attrs.evolve(folder, project={**folder.project, **other})


async def first_made(copies: Iterable[Folder], make: Callable[[Folder], Awaitable[str | None]]) -> str:
    """The short name of the first copy that ``make`` makes; it returns None for a name that is taken.

    Raises ConflictError if all names are taken.
    """
    for copy in copies:
        for _attempt in range(2):  # a twin of this click may have been faster
            with suppress(ConflictError):  # or a stranger's project is called so
                made = await make(copy)
                if made is not None:
                    return made
                break
    raise ConflictError(_("No name is available for the project. Delete an earlier draft first."))
