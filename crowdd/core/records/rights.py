"""Whether a requester may do something: a pure decision over roles.

Which roles may do what with a kind stands in its file in ``crowdd.kinds``.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from crowdd.kernel.errors import AnonymousError, ForbiddenError
from crowdd.kernel.requester import Requester
from crowdd.kinds.roles import OWNERS, Role


def require(who: Requester, have: Set[Role], wanted: Set[Role], message: str = "") -> None:
    """Passes when one of the wanted roles is there.

    Raises AnonymousError for people who are not signed in (signing in might help), ForbiddenError for others.
    """
    if have & wanted or Role.ANYBODY in wanted:
        return
    if who.signed_in and who.presenter is None:
        raise ForbiddenError(message or "You are not allowed to do this.")
    raise AnonymousError(message or "Only signed-in people may do this.")


def owns(have: Set[Role]) -> bool:
    """Whether somebody with these roles has the rights of the project's owners."""
    return bool(have & OWNERS)


def require_owner(who: Requester, have: Set[Role]) -> None:
    """Passes for those. Raises as ``require``."""
    require(who, have, OWNERS)


_ACTIONS: Mapping[str, frozenset[str]] = {
    "read": frozenset({"read"}),
    "answer": frozenset({"read", "answer"}),
    "predict": frozenset({"read", "predict"}),
    "project": frozenset({"read", "predict", "write"}),
    "everything": frozenset({"read", "answer", "predict", "write", "everything"}),
}


def require_scope(who: Requester, action: str) -> None:
    """Passes when the requester's API token, if they came with one, has a scope that allows the action.

    ``action``: read, answer (ask for tasks, answer, give back), predict (send predictions), write, or everything (what
    no narrower scope allows).
    Raises ForbiddenError.
    """
    if who.scope and action not in _ACTIONS[who.scope]:
        hint = f'The scope of the token is "{who.scope}".'
        raise ForbiddenError("This token may not do that.", code="token_scope", hint=hint)


def require_project_scope(who: Requester, project_id: int | None) -> None:
    """Passes unless the requester's API token may write another project only. Raises ForbiddenError."""
    if who.only_project is not None and project_id != who.only_project:
        hint = f"The token may write project {who.only_project} only."
        raise ForbiddenError("This token may not do that.", code="token_scope", hint=hint)


def of_requester(who: Requester) -> frozenset[Role]:
    """The roles that need no row."""
    have = {Role.ANYBODY}
    if who.acting_user is not None and who.only_project is None:
        have.add(Role.SIGNED_IN)
    if who.acting_admin:
        have.add(Role.ADMIN)
    return frozenset(have)
