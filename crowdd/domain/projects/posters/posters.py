"""The poster of a project."""

from __future__ import annotations

from collections.abc import Callable

from crowdd.concurrency.worker_thread import WorkerThread
from crowdd.domain.core.uploads import Uploads, container_of
from crowdd.domain.projects.posters.poster import Poster
from crowdd.domain.projects.posters.process import drawn
from crowdd.storage.projects.rows import ProjectPage


class Posters:
    """Draws posters, one at a time. ``site`` returns the name of the site."""

    def __init__(self, worker_thread: WorkerThread, uploads: Uploads, site: Callable[[], str]) -> None:
        self._worker_thread, self._uploads, self._site = worker_thread, uploads, site

    async def pdf(self, row: ProjectPage, address: str, call: str) -> bytes:
        """The poster of a project as PDF. ``address`` opens it; ``call`` invites to it, in the owner's language.

        Raises InvalidValueError where no font has some of the letters, UnavailableError when many posters wait.
        """
        poster = Poster(
            name=row["name"],
            sentence=row["description"],
            call=call,
            link=address.partition("://")[2].rstrip("/"),
            site=self._site(),
            address=address,
            picture=self._picture(row),
        )
        return await self._worker_thread.do(drawn, poster)

    def _picture(self, row: ProjectPage) -> str | None:
        """The file of the project's own picture. ``info`` is the owner's, and must not name files of others."""
        name = row["info"].get("thumbnail")
        upload = self._uploads.find(container_of(row["id"]), name) if isinstance(name, str) else None
        return str(upload[0]) if upload and upload[1].startswith("image/") else None
