"""Has posters drawn by a process with little memory and time. Waits: call it in a thread."""

from __future__ import annotations

import os
import subprocess
import sys

import attrs
import orjson

from crowdd.domain.projects.posters.poster import Poster
from crowdd.errors import InvalidValueError, UnavailableError
from crowdd.languages import _

MAX_SECONDS = 60.0
MAX_BYTES = 10_000_000
_PROGRAM = "crowdd.domain.projects.posters.program"
_ENVIRONMENT = ("PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "TZ")
_MAX_NAMED = 10  # letters that an error names


def drawn(poster: Poster) -> bytes:
    """The PDF of a poster.

    Raises InvalidValueError where no font has some of its letters, UnavailableError when drawing takes too much.
    """
    try:
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-P", "-m", _PROGRAM],
            input=orjson.dumps(attrs.asdict(poster)),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=False,
            timeout=MAX_SECONDS,
            start_new_session=True,  # a Ctrl-C in a terminal is for the server
            env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
        )
    except subprocess.TimeoutExpired:
        raise UnavailableError(_("The poster takes too long to draw. Print the page instead.")) from None
    if done.stdout.startswith(b"%PDF") and len(done.stdout) <= MAX_BYTES:
        return done.stdout
    if not done.stdout.startswith(b"{"):
        raise UnavailableError(_("The poster could not be drawn. Print the page instead."))
    missing = orjson.loads(done.stdout)["missing"][:_MAX_NAMED]
    words = _("No font on this server has these letters: %(letters)s. Print the page instead.", letters=missing)
    raise InvalidValueError(words)
