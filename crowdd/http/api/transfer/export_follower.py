"""Exports that do not end: changes of a project as they happen."""

from __future__ import annotations

from collections.abc import Callable

from crowdd.domain.projects.projects import Projects
from crowdd.domain.transfer.exported.export_file import ExportFile
from crowdd.domain.transfer.exports import Exports
from crowdd.domain.transfer.followed_changes import FORMAT, FollowedChanges
from crowdd.errors import InvalidValueError
from crowdd.http.auth.identity import Identity
from crowdd.http.live_updates import Broadcast
from crowdd.http.request import Incoming
from crowdd.http.responses import Stream
from crowdd.http.transport.streams import SseConnection
from crowdd.requester import Requester, network
from crowdd.storage.projects.rows import ProjectPage


class ExportFollower:
    """Streams of changes, with the rights of each moment."""

    def __init__(self, exports: Exports, projects: Projects, identity: Identity, broadcast: Broadcast) -> None:
        self._exports, self._projects, self._identity, self._broadcast = exports, projects, identity, broadcast

    async def stream(self, incoming: Incoming, row: ProjectPage, file: ExportFile) -> Stream:
        """What follows the cursor of a file, and then each change. Raises InvalidValueError, OutdatedError."""
        if file.since is None:
            raise InvalidValueError("follow requires since.")
        await self._exports.has_changes(file)  # a cursor that cannot be continued is refused at once
        kind, short_name = file.kind.table, row["short_name"]
        followed = FollowedChanges(self._exports, incoming.query["since"], network(incoming.address))

        async def ask() -> tuple[Requester, ExportFile]:
            who = await self._identity.find_again(incoming)
            now = await self._projects.page(short_name, who)
            return who, self._exports.file(who, now, kind, FORMAT, since=followed.since)

        async def judge() -> None:
            await ask()

        def begin(client: SseConnection) -> Callable[[], None]:
            client.judge = judge
            return self._broadcast.follow_changes(row["id"], lambda: followed.ready(ask), followed.batch, client)

        return Stream(begin, lines=True)
