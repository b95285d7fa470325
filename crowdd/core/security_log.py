"""The security log: who signed in, who was refused, and what changed of accounts.

``note`` writes an act into the transaction that does it. ``count`` is for what anybody can cause as often as they like:
it returns at once, equal entries of an hour share one row with a count, and rows are bounded (``EntryBudget``). What
was counted is written within a second, by one statement at a time. Both also write a line to the log of the server.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

import attrs
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from crowdd.core import log_statements
from crowdd.core.records.statements import Keyset, KeysetPage
from crowdd.core.rows import SecurityEntry
from crowdd.core.secrets import Secrets
from crowdd.database.access import Database, Transactions
from crowdd.kernel.concurrency.throttling import Throttled
from crowdd.kernel.errors import UnavailableError
from crowdd.kernel.logs import request_id
from crowdd.kernel.requester import Requester

PAUSE = 1.0  # seconds between two statements
MAX_ROWS_OF_KIND, MAX_ROWS_OF_NETWORK = 1000, 20  # new rows of a kind in an hour; and of one network among them
MORE, MORE_NETWORKS = "(more of this network)", "(more networks)"
_MAX_AGENT, _MAX_DETAIL, _MAX_KEYS = 200, 200, 10_000
_DAY, _HOUR = 86_400, 3600

log = Logger()


@attrs.frozen
class EntryKind:
    """A kind of entry: its name in the table and the log, and what it means."""

    name: str
    meaning: str


SIGN_IN = EntryKind("sign_in", "Somebody signed in; the detail says how.")
SIGN_IN_FAILED = EntryKind("sign_in_failed", "A sign-in failed: wrong password, unknown account, or a blocked one.")
SIGN_IN_THROTTLED = EntryKind("sign_in_throttled", "A sign-in was refused unchecked, after too many failures.")
SIGN_OUT = EntryKind("sign_out", "Somebody signed out.")
NEW_DEVICE = EntryKind("new_device", "Somebody signed in with a browser that the account had not used before.")
PASSWORD_WRONG = EntryKind("password_wrong", "A signed-in person entered a wrong password when asked for it again.")
PASSWORD_CHANGED = EntryKind("password_changed", "A password was changed by its owner or on the command line.")
RESET_ASKED = EntryKind("reset_asked", "An e-mail with a link to choose a new password was requested.")
RESET_DONE = EntryKind("reset_done", "A password was replaced with the link of such an e-mail.")
ADDRESS_CHANGED = EntryKind("address_changed", "The e-mail address of an account was changed.")
KEY_MADE = EntryKind("key_made", "The API key of an account was replaced.")
KEY_NEW_NETWORK = EntryKind("key_new_network", "An API key or token was used from a network not seen before.")
TOKEN_MADE = EntryKind("token_made", "A named API token was created.")
TOKEN_REMOVED = EntryKind("token_removed", "A named API token was removed.")
FACTOR_ADDED = EntryKind("factor_added", "A second factor was added to an account.")
FACTOR_REMOVED = EntryKind("factor_removed", "A second factor was removed from an account.")
RECOVERY_CODE_USED = EntryKind("recovery_code_used", "A recovery code was used in place of a second factor.")
CSRF_REFUSED = EntryKind("csrf_refused", "A form was sent without a valid token.")
ORIGIN_REFUSED = EntryKind(
    "origin_refused", "A page of another site or a presenter sent a request that it may not send."
)
ADMIN_REFUSED = EntryKind("admin_refused", "A page below /admin was requested without administrator rights.")
ADMIN_MADE = EntryKind("admin_made", "An account was given administrator rights.")
ADMIN_REMOVED = EntryKind("admin_removed", "An account lost its administrator rights.")
ACCOUNT_BLOCKED = EntryKind("account_blocked", "An account was blocked.")
ACCOUNT_UNBLOCKED = EntryKind("account_unblocked", "An account was unblocked.")

KINDS = {kind.name: kind for kind in tuple(vars().values()) if isinstance(kind, EntryKind)}


@attrs.frozen
class Subject:
    """What equal entries have in common."""

    kind: str
    network: str
    user_id: int | None = None
    actor_id: int | None = None
    tried: str = ""
    detail: str = ""


@attrs.frozen
class Counted:
    """How often something happened since it was last written, with the request and browser of the first time."""

    count: int
    request_id: str
    agent: str

    def more(self, count: int) -> Counted:
        """The same, so many times more."""
        return attrs.evolve(self, count=self.count + count)


@attrs.frozen
class _Use:
    """Who used a key, in which request."""

    who: Requester
    request_id: str


class EntryBudget:
    """Which entries get rows of their own in an hour, so that nobody can fill the table.

    Beyond the bounds all entries of a kind and network share a row, and beyond those all of a kind.
    """

    def __init__(self) -> None:
        self._hour = 0
        self._known: set[Subject] = set()
        self._rows: Counter[object] = Counter()

    def place(self, subject: Subject, hour: int) -> Subject:
        """The entry that this one is counted as."""
        if hour != self._hour:
            self._hour = hour
            self._known.clear()
            self._rows.clear()
        here = (subject.kind, subject.network)
        if subject not in self._known and self._rows[here] >= MAX_ROWS_OF_NETWORK:
            subject = Subject(*here, detail=MORE)
        if subject not in self._known and self._rows[subject.kind] >= MAX_ROWS_OF_KIND:
            return Subject(subject.kind, "", detail=MORE_NETWORKS)
        if subject not in self._known:
            self._known.add(subject)
            self._rows.update((here, subject.kind))
        return subject


class SecurityLog:
    """One for each process; ``clock`` is the reactor's."""

    def __init__(self, clock: IReactorTime, db: Transactions, secrets: Secrets) -> None:
        self._clock, self._db, self._secrets = clock, db, secrets
        self._budget = EntryBudget()
        self._waiting: dict[Subject, Counted] = {}
        self._uses: dict[tuple[bytes, str], _Use] = {}
        self._used: dict[tuple[bytes, str], int] = {}  # the day on which a use was last written
        # The reactor begins to write, where no request is being answered whose id the lines of others would bear.
        self._writing = Throttled(clock, self._write, PAUSE)

    async def note(
        self, db: Database, kind: EntryKind, who: Requester, *, user_id: int | None = None, detail: str = ""
    ) -> None:
        """Write an act of ``who`` into a transaction; ``user_id`` is the account concerned, their own unless given."""
        subject = _subject(kind, who, user_id, "", detail)
        counted = Counted(1, request_id.get(), _plain(who.agent, _MAX_AGENT))
        await log_statements.insert_security_entry(db, _row(subject, counted))
        _tell(subject, counted)

    def count(
        self,
        kind: EntryKind,
        who: Requester,
        *,
        user_id: int | None = None,
        tried: str = "",
        detail: str = "",
        request: str = "",
    ) -> None:
        """Count something that happened. ``tried`` is what was typed for an account, of which a keyed hash is kept.

        ``request`` is the id of the request where it is not the one that is being answered.
        """
        subject = _subject(kind, who, user_id, self.hidden(tried) if tried else "", detail)
        counted = Counted(1, request or request_id.get(), _plain(who.agent, _MAX_AGENT))
        self._add(subject, counted)

    def hidden(self, tried: str) -> str:
        """The keyed hash under which a typed name or address stands in the log."""
        return self._secrets.digest("tried", tried.strip().lower()).hex()[:32]

    def key_used(self, key: bytes, who: Requester) -> None:
        """Note that an API key or token, given by the hash it is found by, was used; written once a day and network."""
        use, today = (key, who.network), int(self._clock.seconds()) // _DAY
        if self._used.get(use) == today:
            return
        self._used.pop(use, None)
        self._used[use] = today
        if len(self._used) > _MAX_KEYS:
            del self._used[next(iter(self._used))]
        self._uses[use] = _Use(who, request_id.get())
        self._writing.ask()

    async def latest(
        self,
        place: Keyset,
        *,
        account: int | None = None,
        tried: str = "",
        kinds: Sequence[str] = (),
        since: datetime | None = None,
    ) -> KeysetPage[SecurityEntry]:
        """A page of entries: of an account, or where this was typed for one; of some kinds; since a time."""
        hidden, wanted = self.hidden(tried) if tried else None, list(kinds) or None
        return await log_statements.list_security_entries(
            self._db, place, account=account, tried=hidden, kinds=wanted, since=since
        )

    async def sweep(self, db: Database, days: int) -> int:
        """Remove what is older; how many rows there were."""
        return await log_statements.delete_security_entries(db, days)

    async def close(self) -> None:
        """Write what was counted, once; for the end of the process."""
        await self._writing.flush()

    def _add(self, subject: Subject, counted: Counted) -> None:
        place = self._budget.place(subject, int(self._clock.seconds()) // _HOUR)
        known = self._waiting.get(place)
        self._waiting[place] = known.more(counted.count) if known else counted
        self._writing.ask()

    async def _write(self) -> None:
        """Write what waits. Raises UnavailableError when the database is away: then it goes on waiting."""
        uses, self._uses, waiting = self._uses, {}, {}
        try:
            await self._write_uses(uses)
            uses = {}
            waiting, self._waiting = self._waiting, {}
            if waiting:
                await log_statements.add_security_entries(
                    self._db, [_row(subject, counted) for subject, counted in waiting.items()]
                )
        except UnavailableError:
            self._put_back(uses, waiting)
            raise
        except Exception:
            log.failure("security log: entries could not be written and are lost")
            return
        for subject, counted in waiting.items():
            _tell(subject, counted)

    def _put_back(self, uses: dict[tuple[bytes, str], _Use], waiting: dict[Subject, Counted]) -> None:
        self._uses = uses | self._uses
        for subject, counted in waiting.items():
            later = self._waiting.get(subject)
            self._waiting[subject] = counted.more(later.count if later else 0)

    async def _write_uses(self, uses: dict[tuple[bytes, str], _Use]) -> None:
        if not uses:
            return
        known = [(key, network, use.who.user_id or 0) for (key, network), use in uses.items()]
        for use_key in await log_statements.note_key_uses(self._db, known):
            use = uses[use_key]
            counted = Counted(1, use.request_id, _plain(use.who.agent, _MAX_AGENT))
            self._add(_subject(KEY_NEW_NETWORK, use.who, None, "", ""), counted)


def _subject(kind: EntryKind, who: Requester, user_id: int | None, tried: str, detail: str) -> Subject:
    about = who.user_id if user_id is None and not tried else user_id
    actor = None if who.user_id == about else who.user_id
    return Subject(kind.name, who.network, about, actor, tried, _plain(detail, _MAX_DETAIL))


def _plain(text: str, maximum: int) -> str:
    """The beginning of a text as PostgreSQL takes it, in one line."""
    shown = text[:maximum].encode("utf-8", "replace").decode()
    return "".join(character if character.isprintable() else " " for character in shown)


def _row(subject: Subject, counted: Counted) -> dict[str, object]:
    return {**attrs.asdict(subject), **attrs.asdict(counted)}


def _tell(subject: Subject, counted: Counted) -> None:
    """A line in the log of the server: of text what can be searched, of JSON all fields."""
    row = {name: value for name, value in _row(subject, counted).items() if value not in (None, "")}
    words = " ".join(f"{name}={row[name]}" for name in _SHOWN if name in row)
    log.info("security event: {words}", words=words, security=row, request_id=counted.request_id)


_SHOWN = ("kind", "user_id", "actor_id", "tried", "network", "count", "detail")
