"""The cookie by which a browser is a volunteer of its own."""

from __future__ import annotations

import secrets as random

import attrs

from crowdd.http.auth.cookies import VOLUNTEER, YEAR, Cookies
from crowdd.http.edge.rate_limits import WindowGroup
from crowdd.http.request import Incoming


@attrs.frozen
class VolunteerCookies:
    """Finds and gives volunteer cookies, if ``enabled``. ``budget``: how many new ones a network gets."""

    cookies: Cookies
    budget: WindowGroup
    enabled: bool

    def current(self, incoming: Incoming) -> str:
        """The name of the volunteer whose cookie the browser has; "" without one."""
        return self.cookies.volunteer(incoming) if self.enabled and incoming.cookie(VOLUNTEER) else ""

    async def ensure(self, incoming: Incoming) -> str:
        """The same. A browser without a cookie gets one, unless its network has had all new ones that it gets.

        The cookie says when and to which network it was given: ``<name>~<epoch seconds>~<pseudonym of the network>``.
        It is good for a year, also in other networks.
        """
        volunteer, network = self.current(incoming), incoming.who.network
        if volunteer or not self.enabled or not await self.budget.take(network):
            return volunteer
        volunteer = random.token_urlsafe(12)
        self.give(incoming, volunteer)
        return volunteer

    def give(self, incoming: Incoming, volunteer: str) -> None:
        """Makes the browser this volunteer from now on."""
        value = f"{volunteer}~{int(self.cookies.now())}~{incoming.who.network}"
        self.cookies.set_signed(incoming, VOLUNTEER, value, seconds=YEAR)
