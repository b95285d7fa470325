"""Certificates of what a volunteer gave, which anybody with their link can check until they are withdrawn."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import date
from typing import Final

import attrs

from crowdd.core.quotas import HOUR_MINUTES, Attempts, Limit
from crowdd.core.secrets import token
from crowdd.database import access
from crowdd.database.access import Database, Transactions
from crowdd.features.groups.groups import checked_name, parse_day, require_user
from crowdd.features.recognition import statements
from crowdd.features.recognition.rows import Certificate, Given, NewCertificate
from crowdd.kernel.errors import FormError, NotFoundError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester

MAX_CERTIFICATES: Final = 20
MAX_NAME: Final = 100
MAX_READ: Final = 100_000
"""Newest answers of which certificates tell."""
MAX_PROJECTS: Final = 12
"""Projects that a certificate names, those with the most time."""
PER_HOUR: Final = 10
_MAX_ID: Final = 2**63 - 1


@attrs.frozen
class CertificateForm:
    """What the person asks for, as it was sent: the days as 2027-01-31."""

    name: str
    first_day: str
    last_day: str


class Certificates:
    """The certificates of the requester, who has an account, and those that others hold in their hands.

    Those of the requester raise AnonymousError, and NotFoundError for certificates that are not theirs.
    """

    def __init__(self, db: Transactions, attempts: Attempts) -> None:
        self._db, self._attempts = db, attempts

    async def own(self, who: Requester) -> list[Certificate]:
        """Those that they have, the newest first."""
        return await statements.list_certificates(self._db, require_user(who))

    async def find(self, who: Requester, certificate_id: int) -> Certificate:
        """One of them."""
        row = await statements.find_certificate(self._db, require_user(who), min(certificate_id, _MAX_ID))
        if row is None:
            raise _unknown()
        return row

    async def check(self, key: str) -> Certificate:
        """The certificate with this key, for anybody. Raises NotFoundError."""
        row = await statements.find_by_key(self._db, key)
        if row is None:
            raise _unknown()
        return row

    async def create(self, who: Requester, form: CertificateForm) -> int:
        """The id of a new certificate about these days. Raises FormError, TooManyRequestsError."""
        user_id, today = require_user(who), (await access.now(self._db)).date()
        name, first, last = _checked(form, today)
        await self._attempts.count(Limit(f"certificate:{user_id}", PER_HOUR, HOUR_MINUTES))
        rows = await statements.list_given(self._db, who, first, last, MAX_READ)
        if not rows:
            raise FormError({"first_day": [_("You gave no answers to projects of others on these days.")]})
        if rows[0]["n_read"] >= MAX_READ and rows[0]["since"] >= first:
            words = _("Choose a later first day: certificates are about your newest %(count)s answers.", count=MAX_READ)
            raise FormError({"first_day": [words]})
        new = certified(rows, name, first, min(last, today))

        async def work(tx: Database) -> int:
            await statements.lock_certificates(tx, user_id)
            if len(await statements.list_certificates(tx, user_id)) >= MAX_CERTIFICATES:
                words = _("You have %(maximum)s certificates. Withdraw one first.", maximum=MAX_CERTIFICATES)
                raise FormError({"name": [words]})
            return await statements.insert_certificate(tx, user_id, token(), new)

        return await self._db.transaction(work)

    async def withdraw(self, who: Requester, certificate_id: int) -> None:
        """Ends one: its link leads nowhere from now on."""
        if not await statements.delete_certificate(self._db, require_user(who), min(certificate_id, _MAX_ID)):
            raise _unknown()


def certified(rows: Sequence[Given], name: str, first: date, last: date) -> NewCertificate:
    """What a certificate about these rows says."""
    public = defaultdict[str, list[Given]](list)
    for row in rows:
        if row["public"] and row["name"]:
            public[row["name"]].append(row)
    projects = [
        {
            "name": of,
            "answers": sum(row["answers"] for row in own),
            "seconds": sum(row["seconds"] for row in own),
        }
        for of, own in sorted(public.items(), key=lambda pair: -sum(row["seconds"] for row in pair[1]))
    ]
    return NewCertificate(
        name=name,
        first_day=first,
        last_day=last,
        answers=sum(row["answers"] for row in rows),
        seconds=sum(row["seconds"] for row in rows),
        n_projects=len({row["project_id"] for row in rows}),
        projects=projects[:MAX_PROJECTS],
    )


def _checked(form: CertificateForm, today: date) -> tuple[str, date, date]:
    mistakes = dict[str, list[str]]()
    name, words = checked_name(form.name, MAX_NAME)
    if words:
        mistakes["name"] = [words]
    first, last = parse_day(form.first_day), parse_day(form.last_day)
    if first is None or first > today:
        mistakes["first_day"] = [_("Choose a day that has been.")]
    if last is None or (first is not None and last < first):
        mistakes["last_day"] = [_("Choose a day that is not before the first one.")]
    if mistakes or first is None or last is None:
        raise FormError(mistakes)
    return name, first, last


def _unknown() -> NotFoundError:
    return NotFoundError(_("There is no such certificate, or it was withdrawn."))
