"""The poster of a project, drawn by a process with little memory and time.

Drawing waits: call it in a thread.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import attrs

from crowdd.core.uploads import Uploads, container_of
from crowdd.features.projects import poster_program
from crowdd.features.projects.poster_drawing import Poster
from crowdd.features.projects.rows import ProjectPage
from crowdd.kernel.concurrency import isolated
from crowdd.kernel.concurrency.isolated import LimitError
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.errors import InvalidValueError, StoppedError, UnavailableError
from crowdd.kernel.languages import _
from crowdd.kernel.lazy import lacking

MAX_SECONDS = 60.0
MAX_BYTES = 10_000_000
_PROGRAM = "crowdd.features.projects.poster_program:make_pdf"
_MAX_NAMED = 10  # letters that an error names


def draw_poster(poster: Poster) -> bytes:
    """The PDF of a poster. Raises as ``draw_pdf``."""
    return draw_pdf(_PROGRAM, {poster_program.DESCRIPTION: json.dumps(attrs.asdict(poster))})


def draw_pdf(program: str, described: Mapping[str, str]) -> bytes:
    """The PDF that a program draws of what the environment describes.

    Raises InvalidValueError where no font has some of its letters or the libraries are not installed, UnavailableError
    when drawing takes too much.
    """
    try:
        # Other accounts of the machine read the arguments of a process, but not its environment.
        document = isolated.call(program, seconds=MAX_SECONDS, more=dict(described))
    except LimitError as error:
        if error.limit == "seconds":
            raise UnavailableError(_("The PDF takes too long to draw. Print the page instead.")) from None
        document = b""
    except StoppedError:
        document = b""
    if document.startswith(b"%PDF") and len(document) <= MAX_BYTES:
        return document
    if not document.startswith(b"{"):
        raise UnavailableError(_("The PDF could not be drawn. Print the page instead."))
    letters = json.loads(document).get("missing")
    if letters is None:
        raise lacking("posters")
    missing = letters[:_MAX_NAMED]
    words = _("No font on this server has these letters: %(letters)s. Print the page instead.", letters=missing)
    raise InvalidValueError(words)


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
        return await self._worker_thread.do(draw_poster, poster)

    def _picture(self, row: ProjectPage) -> str | None:
        """The file of the project's own picture. ``info`` is the owner's, and must not name files of others."""
        name = row["info"].get("thumbnail")
        upload = self._uploads.find(container_of(row["id"]), name) if isinstance(name, str) else None
        return str(upload[0]) if upload and upload[1].startswith("image/") else None
