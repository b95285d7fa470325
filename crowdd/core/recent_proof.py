"""A recent proof: what protects an account is changed only in a session whose person was there a moment ago."""

from __future__ import annotations

from typing import Any

import attrs

from crowdd.core.rows import SessionAccount
from crowdd.kernel.config.accounts import AccountSettings
from crowdd.kernel.errors import AnonymousError, ForbiddenError, ProofNeededError, SecondFactorNeededError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester

_OPERATORS = frozenset({"cli", "job"})  # those who may run these have the machine
_MINUTE, _HOUR = 60, 3600
_MANAGING = (
    "Operators transfer and delete projects with crowdctl project, and can allow all of it to API keys:"
    " [accounts] keys_manage_projects."
)


def require_session(who: Requester) -> None:
    """Passes for a requester with a session. Raises AnonymousError; ForbiddenError for an API key or token."""
    if who.via in _OPERATORS:
        return
    if not who.signed_in:
        raise AnonymousError(_("Sign in first."))
    if not who.session:
        hint = "Sign in with a session (POST /account/signin)."
        raise ForbiddenError(_("An API key or token may not do this."), code="session_needed", hint=hint)


def require(who: Requester) -> None:
    """Passes in a session with a recent proof. Raises AnonymousError, ForbiddenError, ProofNeededError."""
    require_session(who)
    if not who.proved and who.via not in _OPERATORS:
        raise ProofNeededError(_("Confirm first that it is you."))


def require_to_manage(who: Requester) -> None:
    """Passes for who may give a project away: transfer or delete it, and change who has rights, a password or a key.

    That is a session with a recent proof, the command line, or a key where the site lets keys do so. Raises
    AnonymousError, ForbiddenError, ProofNeededError.
    """
    if who.manages_projects:
        return
    if who.signed_in and not who.session and who.via not in _OPERATORS:
        words = _("An API key or token may not do this. Do it on the pages of the project.")
        raise ForbiddenError(words, code="session_needed", hint=_MANAGING)
    require(who)


def require_for_admin(who: Requester, *, second_factor: bool) -> None:
    """Passes for an administrator whose session may go on below /admin.

    ``second_factor``: administrators must have one. Others than administrators pass: their rights are checked later.
    Raises ForbiddenError, ProofNeededError, SecondFactorNeededError.
    """
    if not who.admin:
        return
    require_session(who)
    if second_factor and not who.second_factor:
        raise SecondFactorNeededError(_("Administrators of this site need a second factor. Set one up first."))
    if not who.admin_fresh:
        raise ProofNeededError(_("Confirm first that it is you."))


@attrs.frozen
class Freshness:
    """How a session's age becomes what the requester may do."""

    settings: AccountSettings

    def of_session(self, row: SessionAccount) -> dict[str, Any]:
        """What a found session says about its requester."""
        settings = self.settings
        return {
            "proved": row["proof_age"] < settings.proof_minutes * _MINUTE,
            "admin_fresh": row["proof_age"] < settings.admin_proof_hours * _HOUR
            and row["admin_idle"] < settings.admin_idle_minutes * _MINUTE,
            "admin_stale": row["admin_idle"] > _MINUTE,
            "second_factor": row["second_factor"],
        }
