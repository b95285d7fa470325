"""What a person is told in the site, and what they chose to be told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from urllib.parse import quote

from crowdd.database.access import Database
from crowdd.features.news import statements
from crowdd.features.news.rows import LetterChoice, MutedProject, NewsRow
from crowdd.kernel.errors import NOT_FOUND, AnonymousError, NotFoundError
from crowdd.kernel.languages import _, ngettext
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds.types import iso

KINDS: Final = ("finished", "resumed", "post", "reply")
MAX_SHOWN: Final = 50
_STATES: Final = frozenset({"finished", "resumed"})
_MAX_MUTED: Final = 500
_SHOWN: Final = ("id", "kind", "comment", "reply", "new")


class News:
    """News of the requester, who has an account. All raise AnonymousError for others."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def newest(self, who: Requester) -> list[NewsRow]:
        """What they are told, the newest first, at most MAX_SHOWN."""
        rows = await statements.list_news(self._db, require_user(who), who.unlocked, MAX_SHOWN)
        return without_older_states(rows)

    async def note_seen(self, who: Requester) -> None:
        """Notes that they looked at it."""
        await statements.note_seen(self._db, require_user(who))

    async def choice(self, who: Requester) -> LetterChoice:
        """What they chose of the weekly e-mail."""
        return await statements.read_choice(self._db, require_user(who))

    async def choose(self, who: Requester, subscribed: bool, kinds: Iterable[str]) -> None:
        """Stores whether they get the weekly e-mail, and which kinds of news it has."""
        wanted = set(kinds)
        without = [kind for kind in KINDS if kind not in wanted]
        await statements.write_choice(self._db, require_user(who), subscribed, without)

    async def muted(self, who: Requester) -> list[MutedProject]:
        """The projects of which they want no news."""
        return await statements.list_muted(self._db, require_user(who), _MAX_MUTED)

    async def mute(self, who: Requester, short_name: str) -> None:
        """Ends the news of a project that they helped, here and in e-mails. Raises NotFoundError for another one."""
        if not await statements.mute(self._db, require_user(who), short_name):
            raise NotFoundError(NOT_FOUND)

    async def unmute(self, who: Requester, short_name: str) -> None:
        """Begins them again. Raises NotFoundError."""
        if not await statements.unmute(self._db, require_user(who), short_name):
            raise NotFoundError(NOT_FOUND)


def require_user(who: Requester) -> int:
    """The account of the requester. Raises AnonymousError."""
    if who.acting_user is None:
        raise AnonymousError(_("Sign in first."))
    return who.acting_user


def without_older_states(rows: Sequence[NewsRow]) -> list[NewsRow]:
    """The rows, of which only the newest says whether a project is finished or goes on."""
    shown, settled = list[NewsRow](), set[str]()
    for row in rows:
        if row["kind"] in _STATES:
            if row["short_name"] in settled:
                continue
            settled.add(row["short_name"])
        shown.append(row)
    return shown


def chosen_kind(row: NewsRow) -> str:
    """The kind by which a person leaves it out: a letter is what a project writes."""
    return "post" if row["kind"] == "letter" else row["kind"]


def headline(row: NewsRow) -> str:
    """What happened, in a few words."""
    match row["kind"]:
        case "finished":
            return _("%(project)s is finished", project=row["name"])
        case "resumed":
            return _("%(project)s needs you again", project=row["name"])
        case "post" | "letter":
            return row["title"] or ""
        case _other:
            return _("The owners of %(project)s answered your comment", project=row["name"])


def detail(row: NewsRow) -> str:
    """A sentence about it: what came out, of which project a post is, or the answer."""
    match row["kind"]:
        case "finished":
            return ngettext(
                "Volunteers gave %(answers)s answers to %(tasks)s tasks. One of them is yours.",
                "Volunteers gave %(answers)s answers to %(tasks)s tasks. %(own)s of them are yours.",
                row["own"],
                answers=row["n_task_runs"],
                tasks=row["n_tasks"],
                own=row["own"],
            )
        case "resumed":
            return _("There are tasks to answer again.")
        case "letter":
            return _("A letter from the owners of %(project)s", project=row["name"])
        case "post":
            return _("News of %(project)s", project=row["name"])
        case _other:
            return row["reply"] or ""


def address(row: NewsRow) -> str:
    """The path of the page about it."""
    at = f"/project/{quote(row['short_name'])}/"
    match row["kind"]:
        case "finished":
            return f"{at}results" if row["told"] else at
        case "post" | "letter":
            return f"{at}{row['subject']}"
        case "reply":
            return f"{at}task/{row['task_id']}/comment"
        case _other:
            return at


def shown_news(row: NewsRow) -> Values:
    """One of the news as pages show it: ``headline``, a sentence about it (``detail``), where it leads (``path``)."""
    values: Mapping[str, object] = row
    project = {name: values[name] for name in ("name", "short_name", "info")}
    shown = {name: values[name] for name in _SHOWN} | {"created": iso(row["created"])}
    return {**shown, "project": project, "headline": headline(row), "detail": detail(row), "path": address(row)}
