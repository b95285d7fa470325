"""Answers that a browser gave without an account, and moving them to an account."""

from __future__ import annotations

from crowdd.domain.accounts.answer_claims import AnswerClaims
from crowdd.http.auth.volunteers import VolunteerCookies
from crowdd.http.request import Incoming
from crowdd.languages import _, ngettext

_CLAIM = "claim"


class EarlierAnswers:
    """The anonymous answers of a browser."""

    def __init__(self, answer_claims: AnswerClaims, volunteers: VolunteerCookies, link_hours: int) -> None:
        self._answer_claims, self._volunteers, self._cookies = answer_claims, volunteers, volunteers.cookies
        self._link_seconds = link_hours * 3600

    async def count(self, incoming: Incoming, user_id: int | None = None) -> int:
        """How many answers of this browser an account (a new one for None) can take over."""
        return await self._answer_claims.offered(self._volunteers.current(incoming), user_id)

    async def claim(self, incoming: Incoming, user_id: int) -> int:
        """Moves the answers to the account and returns how many they are."""
        return await self._answer_claims.claim(user_id, self._volunteers.current(incoming), incoming.who)

    async def welcome(self, incoming: Incoming, user_id: int, claims: bool) -> str:
        """The message for a new account. With ``claims`` the account takes over the answers of this browser."""
        moved = await self.claim(incoming, user_id) if claims else 0
        return claimed_words(moved) if moved else _("Thanks for signing up.")

    def note_claim(self, incoming: Incoming) -> None:
        """Remember, for as long as the link in the e-mail works, that the new account takes over the answers."""
        self._cookies.set_signed(incoming, _CLAIM, "yes", seconds=self._link_seconds)

    def take_claim(self, incoming: Incoming) -> bool:
        """Whether ``note_claim`` was called for this browser. Forgets it."""
        noted = self._cookies.signed(incoming, _CLAIM) == "yes"
        if noted:
            self._cookies.drop(incoming, _CLAIM)
        return noted


def claimed_words(answers: int) -> str:
    """The message after answers were moved to an account."""
    return ngettext("One answer is now under your name.", "%(num)s answers are now under your name.", answers)
