"""The list of people (interface: account-page)."""

from __future__ import annotations

from collections.abc import Iterator

from crowdd.domain.accounts.accounts import Accounts
from crowdd.domain.accounts.user_list import UserList
from crowdd.domain.core.pagination import Pagination
from crowdd.domain.projects.serializers import person
from crowdd.domain.projects.statistics import Statistics
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Response, Titled
from crowdd.http.routing import Route, get
from crowdd.languages import _
from crowdd.values import Values

_TOP = 10


class PeoplePublic(Titled):
    accounts: list[Values]
    pagination: Pagination
    total: int
    top_users: list[Values]
    update_feed: list[Values]


class CommunityPages:
    """/account and /account/page/<page>."""

    def __init__(self, accounts: Accounts, user_list: UserList, statistics: Statistics) -> None:
        self._accounts, self._community, self._statistics = accounts, user_list, statistics

    def routes(self) -> Iterator[Route]:
        yield get("/account/", self.first)
        yield get("/account/page/<int:page>", self.page)

    async def first(self, incoming: Incoming) -> Response:
        return await self.page(incoming, 1)

    async def page(self, incoming: Incoming, page: int) -> Response:
        found = await self._community.page(page)
        public = PeoplePublic(
            title=_("People"),
            accounts=[person(row) for row in found.people],
            pagination=found.pagination,
            total=found.total,
            top_users=[person(row) for row in await self._accounts.leaderboard(incoming.who, _TOP, 0)],
            update_feed=await self._statistics.update_feed(),
        )
        return Page("account/index.html", public)
