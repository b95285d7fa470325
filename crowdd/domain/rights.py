"""Whether a requester may do something: a pure decision over standings."""

from __future__ import annotations

from collections.abc import Set

from crowdd.errors import AnonymousError, ForbiddenError
from crowdd.kinds.kind import Standing
from crowdd.values import Requester


def require(who: Requester, have: Set[Standing], wanted: Set[Standing], message: str = "") -> None:
    """Passes when one of the wanted standings is there.

    Raises AnonymousError for somebody who is not signed in (signing in might help), ForbiddenError for others.
    """
    if have & wanted or Standing.ANYBODY in wanted:
        return
    if who.signed_in and who.presenter is None:
        raise ForbiddenError(message or "You are not allowed to do this.")
    raise AnonymousError(message or "Only people who signed in may do this.")


def of_requester(who: Requester) -> frozenset[Standing]:
    """The standings that need no row."""
    have = {Standing.ANYBODY}
    if who.acting_user is not None:
        have.add(Standing.SIGNED_IN)
    if who.acting_admin:
        have.add(Standing.ADMIN)
    return frozenset(have)
