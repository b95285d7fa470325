"""Profiles, one's own projects, and the API key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crowdd.domain.projects.serializers import person, project_summary
from crowdd.domain.server.services import Services
from crowdd.http.html.forms import Forms
from crowdd.http.pages.account.access import me, own_account
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.languages import _
from crowdd.storage.accounts.rows import AccountPage
from crowdd.storage.projects.rows import ProjectSummary


class ProfilePages:
    """/account/profile, /account/<name>, /account/<name>/projects and /account/<name>/resetapikey."""

    def __init__(self, services: Services, forms: Forms) -> None:
        self._services, self._accounts, self._projects, self._forms = (
            services,
            services.accounts,
            services.projects,
            forms,
        )

    def routes(self) -> Iterator[Route]:
        yield get("/account/profile", self.own_profile)
        yield get("/account/<name>/", self.profile)
        yield get("/account/<name>/projects", self.projects)
        yield get("/account/<name>/resetapikey", self.reset_key_form)
        yield post("/account/<name>/resetapikey", self.reset_key, proof=True)

    async def own_profile(self, incoming: Incoming) -> Response:
        """The same keys as another's profile; who is not signed in is told so, without a redirect for programs."""
        if not incoming.who.signed_in:
            return Redirect("/account/signin", more={"status": "not_signed_in"})
        return await self._page(incoming, await self._accounts.profile(me(incoming)))

    async def profile(self, incoming: Incoming, name: str) -> Response:
        found = await self._accounts.find_by_name(name)
        return await self._page(incoming, await self._accounts.profile(found["id"]))

    async def _page(self, incoming: Incoming, row: AccountPage) -> Response:
        own = row["id"] == incoming.who.acting_user
        helped, n_helped = await self._projects.of_volunteer(row["id"])
        created = await self._projects.of_owner(row["id"])
        published = [project_summary(p, owned=own) for p in created if p["published"] and (own or not p["locked"])]
        context: dict[str, Any] = {
            "title": _("Profile"),
            "user": person(
                row, api_key=self._accounts.api_key(row) if own and incoming.who.sees_own_key else None, private=own
            ),
            "projects_contrib": [project_summary(p) for p in helped],
            "_n_helped": n_helped,
            "projects_created": published,
        }
        if own:
            context["_can_confirm"] = self._services.people.email_confirmation.possible and not row["valid_email"]
            drafts = [project_summary(p, owned=True) for p in created if not p["published"]]
            context |= {
                "projects_published": published,
                "projects_draft": drafts,
                "projects_created": published + drafts,
                "_paused": _paused(created),
            }
        return Page("account/profile.html" if own else "account/public_profile.html", **context)

    async def projects(self, incoming: Incoming, name: str) -> Response:
        """What a person owns or co-owns (interface: account-projects)."""
        row = await own_account(self._services, incoming, name)
        owned = await self._projects.of_owner(row["id"])
        published = [project_summary(p, owned=True) for p in owned if p["published"]]
        drafts = [project_summary(p, owned=True) for p in owned if not p["published"]]
        return Page(
            "account/projects.html",
            title=_("Projects"),
            projects_published=published,
            projects_draft=drafts,
            _name=row["name"],
            _paused=_paused(owned),
        )

    async def reset_key_form(self, incoming: Incoming, name: str) -> Response:
        await own_account(self._services, incoming, name)
        return Page("account/resetapikey.html", title=_("New API key"), form=self._forms.blank(incoming))

    async def reset_key(self, incoming: Incoming, name: str) -> Response:
        row = await own_account(self._services, incoming, name)
        await self._accounts.reset_api_key(row["id"], incoming.who)
        return Redirect("/account/profile", _("New API key generated."))


def _paused(projects: list[ProjectSummary]) -> frozenset[str]:
    """The short names of those that were published and are not now: they are no drafts."""
    return frozenset(p["short_name"] for p in projects if p["first_published"] is not None and not p["published"])
