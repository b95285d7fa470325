"""The pages of profiles, of a person's own projects and API key, and the list of people (interface: account-page)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict

from crowdd.core.text.words import PlacePagination
from crowdd.features.accounts.accounts import Accounts
from crowdd.features.accounts.rows import AccountPage
from crowdd.features.people.profiles import UserList, UserPage
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import ProjectSummary
from crowdd.features.projects.serializers import person, project_summary
from crowdd.features.signin.email_confirmation import EmailConfirmation
from crowdd.features.signin.views import NamedPrivate, me, own_account
from crowdd.features.statistics.statistics import Statistics
from crowdd.http.html.forms import Forms, WithForm
from crowdd.http.html.tables import RowList, WithTable
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response, Titled
from crowdd.http.routing import Route, Shared, get, post
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values


class ProfilePublic(Titled):
    user: Values
    projects_contrib: list[Values]
    projects_created: list[Values]


class ProfilePrivate(TypedDict):
    """``n_helped`` is the number of projects in which the person answered, of which a page lists the newest."""

    n_helped: int


class OwnProfilePublic(ProfilePublic):
    projects_published: list[Values]
    projects_draft: list[Values]


class OwnProfilePrivate(ProfilePrivate):
    """``can_confirm`` says whether a confirmation e-mail can be sent; ``paused`` names the paused projects.

    ``returned`` is why e-mails to the person come back, null where they do not.
    """

    can_confirm: bool
    returned: str | None
    paused: frozenset[str]


class ProjectsPublic(Titled):
    projects_published: list[Values]
    projects_draft: list[Values]


class ProjectsPrivate(NamedPrivate):
    """``paused`` has the short names of the paused projects."""

    paused: frozenset[str]


class KeyPublic(Titled, WithForm):
    pass


class ProfilePages:
    """/account/profile, /account/<name>, /account/<name>/projects and /account/<name>/resetapikey."""

    def __init__(
        self, accounts: Accounts, projects: Projects, email_confirmation: EmailConfirmation, forms: Forms
    ) -> None:
        self._accounts, self._projects, self._email_confirmation = accounts, projects, email_confirmation
        self._forms = forms

    def routes(self) -> Iterator[Route]:
        yield get("/account/profile", self.own_profile)
        yield get("/account/<name>/", self.profile, hot=True, shared=Shared.VISITORS)
        yield get("/account/<name>/projects", self.projects)
        yield get("/account/<name>/resetapikey", self.reset_key_form)
        yield post("/account/<name>/resetapikey", self.reset_key, proof=True)

    async def own_profile(self, incoming: Incoming) -> Response:
        """The requester's own profile. Programs that are not signed in get that as a status, browsers a redirect."""
        if not incoming.who.signed_in:
            return Redirect("/account/signin", more={"status": "not_signed_in"})
        return await self._page(incoming, await self._accounts.profile(me(incoming)))

    async def profile(self, incoming: Incoming, name: str) -> Response:
        account = await self._accounts.find_by_name(name)
        return await self._page(incoming, await self._accounts.profile(account["id"]))

    async def _page(self, incoming: Incoming, row: AccountPage) -> Response:
        own = row["id"] == incoming.who.acting_user
        helped, n_helped = await self._projects.of_volunteer(row["id"])
        created = await self._projects.of_owner(row["id"])
        published = [project_summary(p, owned=own) for p in created if p["published"] and (own or not p["locked"])]
        key = self._accounts.own_key(row, incoming.who)
        public = ProfilePublic(
            title=_("Profile"),
            user=person(row, api_key=key, private=own),
            projects_contrib=[project_summary(p) for p in helped],
            projects_created=published,
        )
        if not own:
            return Page("account/public_profile.html", public, ProfilePrivate(n_helped=n_helped))
        drafts = [project_summary(p, owned=True) for p in created if not p["published"]]
        mine = OwnProfilePublic(
            title=public["title"],
            user=public["user"],
            projects_contrib=public["projects_contrib"],
            projects_created=published + drafts,
            projects_published=published,
            projects_draft=drafts,
        )
        can_confirm = self._email_confirmation.possible and not row["valid_email"]
        private = OwnProfilePrivate(
            n_helped=n_helped,
            can_confirm=can_confirm,
            returned=row["mail_returned"],
            paused=_paused(created),
        )
        return Page("account/profile.html", mine, private)

    async def projects(self, incoming: Incoming, name: str) -> Response:
        """The projects that a person owns or co-owns (interface: account-projects)."""
        row = await own_account(self._accounts, incoming, name)
        owned = await self._projects.of_owner(row["id"])
        published = [project_summary(p, owned=True) for p in owned if p["published"]]
        drafts = [project_summary(p, owned=True) for p in owned if not p["published"]]
        public = ProjectsPublic(title=_("Projects"), projects_published=published, projects_draft=drafts)
        return Page("account/projects.html", public, ProjectsPrivate(name=row["name"], paused=_paused(owned)))

    async def reset_key_form(self, incoming: Incoming, name: str) -> Response:
        await own_account(self._accounts, incoming, name)
        return Page("account/resetapikey.html", KeyPublic(title=_("New API key"), form=self._forms.blank(incoming)))

    async def reset_key(self, incoming: Incoming, name: str) -> Response:
        row = await own_account(self._accounts, incoming, name)
        await self._accounts.reset_api_key(row["id"], incoming.who)
        return Redirect("/account/profile", _("New API key generated."))


def _paused(projects: list[ProjectSummary]) -> frozenset[str]:
    """The short names of projects that were published and are paused now."""
    return frozenset(p["short_name"] for p in projects if p["first_published"] is not None and not p["published"])


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
