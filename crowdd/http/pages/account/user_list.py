"""The list of people (interface: account-page)."""

from __future__ import annotations

from collections.abc import Iterator

from crowdd.domain.accounts.accounts import Accounts
from crowdd.domain.accounts.user_list import UserList, UserPage
from crowdd.domain.core.pagination import PlacePagination
from crowdd.domain.projects.serializers import person
from crowdd.domain.projects.statistics import Statistics
from crowdd.http.html.row_lists import RowList, WithTable
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Response, Titled
from crowdd.http.routing import Route, get
from crowdd.languages import _
from crowdd.values import Values

_TOP = 10
_LIST = RowList(per_page=24)


class PeoplePublic(Titled):
    """``next`` is the account that the next page begins before."""

    accounts: list[Values]
    pagination: PlacePagination
    total: int
    next: int | None
    top_users: list[Values]
    update_feed: list[Values]


class CommunityPages:
    """/account and /account/page/<page>."""

    def __init__(self, accounts: Accounts, user_list: UserList, statistics: Statistics) -> None:
        self._accounts, self._user_list, self._statistics = accounts, user_list, statistics

    def routes(self) -> Iterator[Route]:
        yield get("/account/", self.first)
        yield get("/account/page/<int:page>", self.page)

    async def first(self, incoming: Incoming) -> Response:
        """The first page, or the one beside an account (``before``, ``after``)."""
        place = _LIST.place(incoming)
        return await self._page(incoming, await self._user_list.page(place), 1 if place.row is None else None)

    async def page(self, incoming: Incoming, page: int) -> Response:
        return await self._page(incoming, await self._user_list.numbered(page, _LIST.per_page), page)

    async def _page(self, incoming: Incoming, user_page: UserPage, number: int | None) -> Response:
        part = user_page.part
        public = PeoplePublic(
            title=_("People"),
            accounts=[person(row) for row in part.rows],
            pagination={
                "page": number,
                "per_page": user_page.place.size,
                "total": user_page.total,
                "prev": part.previous,
                "next": part.next,
            },
            total=user_page.total,
            next=part.rows[-1]["id"] if part.next else None,
            top_users=[person(row) for row in await self._accounts.leaderboard(incoming.who, _TOP, 0)],
            update_feed=await self._statistics.update_feed(),
        )
        private: WithTable = _LIST.drawn(user_page.place, {}, part, lambda row: int(row["id"]))
        return Page("account/index.html", public, private)
