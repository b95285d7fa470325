"""What the web interface asks of features: who a requester is, what a project allows, and what belongs to rows.

The features implement it, and the composition root hands it in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from crowdd.core.quotas import Once
from crowdd.core.records.records import Views
from crowdd.http.request import Incoming
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds.kind import Kind


class Identity(Protocol):
    """Finds the requester of a request."""

    async def find(self, incoming: Incoming, *, key_header: bool = True, renew: bool = True) -> Requester: ...
    async def welcome(self, incoming: Incoming) -> None: ...
    async def note_admin_use(self, who: Requester) -> None: ...


class Projects(Protocol):
    """Finds the project that a request is about, and what its requester may do there."""

    async def owned(self, short_name: str, who: Requester) -> object: ...
    async def require_writer(self, project_id: int, who: Requester) -> None: ...
    async def of_object(self, kind: Kind, row_id: int) -> int | None: ...
    async def id_of(self, short_name: str) -> int | None: ...
    async def lock_opened_by(self, reference: int | str, password: str, who: Requester) -> str | None: ...


class Statistics(Protocol):
    """Adds the figures of projects to their views."""

    async def bring_along(self, who: Requester, views: Views) -> None: ...
    async def fill(self, views: Views) -> None: ...


class Contributions(Protocol):
    """Takes answers, and tells which volunteer gives them."""

    async def identify(
        self, who: Requester, project_id: int | None, uid: str | None, bearer: str | None, *, reads: bool = False
    ) -> Requester: ...
    async def submit(
        self,
        who: Requester,
        body: object,
        uid: str | None,
        bearer: str | None,
        once: Once | None = None,
        *,
        brings_next: bool = False,
    ) -> Values | list[Values]: ...
    async def require_asker(self, who: Requester, uid: str | None, task_ids: Sequence[int]) -> None: ...
