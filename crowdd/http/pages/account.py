"""Accounts in the browser: signing up, in and out, profiles, keys, the first administrator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from crowdd.domain.accounts import FormError, Registration
from crowdd.domain.domain import Domain
from crowdd.domain.summaries import person, project_summary
from crowdd.errors import AnonymousError, ForbiddenError
from crowdd.http.answers import Answer, Page, Redirect
from crowdd.http.cookies import SESSION, Cookies
from crowdd.http.forms import Forms, local
from crowdd.http.incoming import Incoming
from crowdd.http.routing import Route, get, post
from crowdd.storage.database import Row

_REGISTER = ("fullname", "name", "email_addr", "password", "confirm")
_SIGN_IN = ("email", "password")
_PROVIDERS = ("google", "github", "orcid")
_DAY = 86400


class AccountPages:
    """The pages below /account."""

    def __init__(self, domain: Domain, forms: Forms, cookies: Cookies) -> None:
        self._accounts, self._projects, self._forms, self._cookies = domain.accounts, domain.projects, forms, cookies
        self._session_seconds = domain.settings.accounts.session_days * _DAY

    def routes(self) -> Iterator[Route]:
        yield get("/account/register", self.register_form)
        yield post("/account/register", self.register)
        yield get("/account/signin", self.sign_in_form)
        yield post("/account/signin", self.sign_in)
        yield get("/account/signout", self.sign_out_by_link)
        yield post("/account/signout", self.sign_out)
        yield get("/account/first-admin", self.first_admin_form)
        yield post("/account/first-admin", self.first_admin)
        yield get("/account/profile", self.own_profile)
        yield get("/account/<name>/resetapikey", self.reset_key_form)
        yield post("/account/<name>/resetapikey", self.reset_key)
        yield get("/account/<name>/", self.profile)

    # Signing up

    async def register_form(self, incoming: Incoming) -> Answer:
        if incoming.who.signed_in:
            return Redirect("/")
        return Page("account/register.html", title="Register", form=self._forms.blank(incoming, *_REGISTER))

    async def register(self, incoming: Incoming) -> Answer:
        if incoming.who.signed_in:
            return Redirect("/")
        try:
            user_id = await self._accounts.register(_registration(incoming), incoming.who)
        except FormError as error:
            return self._again(incoming, "account/register.html", "Register", error, _REGISTER)
        return await self._enter(incoming, user_id, "Thanks for signing up.")

    async def first_admin_form(self, incoming: Incoming) -> Answer:
        await self._accounts.first_admin_open(incoming.query.get("key", ""))
        return Page("account/first_admin.html", title="The first account", form=self._forms.blank(incoming, *_REGISTER))

    async def first_admin(self, incoming: Incoming) -> Answer:
        try:
            form = _registration(incoming)
            user_id = await self._accounts.make_first_admin(incoming.query.get("key", ""), form, incoming.who)
        except FormError as error:
            return self._again(incoming, "account/first_admin.html", "The first account", error, _REGISTER)
        return await self._enter(incoming, user_id, "Welcome. You administrate this site.")

    # Signing in and out

    async def sign_in_form(self, incoming: Incoming) -> Answer:
        if incoming.who.signed_in:
            return Redirect(_next(incoming))
        return self._sign_in_page(incoming, self._forms.blank(incoming, *_SIGN_IN))

    async def sign_in(self, incoming: Incoming) -> Answer:
        if incoming.who.signed_in:
            return Redirect("/")
        try:
            email, password = incoming.field("email"), incoming.field("password")
            device = self._cookies.device(incoming)
            user_id = await self._accounts.sign_in(email, password, incoming.who, device)
        except FormError as error:
            form = self._forms.refused(incoming, error.errors, *_SIGN_IN)
            return self._sign_in_page(incoming, form, flash="Incorrect e-mail or password.", status="error")
        return await self._enter(incoming, user_id, "Welcome back.")

    def _sign_in_page(self, incoming: Incoming, form: dict[str, Any], **said: Any) -> Answer:
        auth = dict.fromkeys(_PROVIDERS, False)
        next_ = _next(incoming, "") or None
        return Page("account/signin.html", title="Sign in", form=form, auth=auth, next=next_, **said)

    async def _enter(self, incoming: Incoming, user_id: int, flash: str) -> Answer:
        """Opens a session under a new token, whatever the browser had before."""
        token = await self._accounts.open_session(user_id, incoming.header("user-agent"), incoming.who)
        self._cookies.set(incoming, SESSION, token, seconds=self._session_seconds)
        self._cookies.remember(incoming, user_id)
        return Redirect(_next(incoming), flash)

    async def sign_out_by_link(self, incoming: Incoming) -> Answer:
        """Only for requests that no other site's page can cause."""
        require_own_page(incoming)
        return await self.sign_out(incoming)

    async def sign_out(self, incoming: Incoming) -> Answer:
        await self._accounts.close_session(incoming.who)
        self._cookies.drop(incoming, SESSION)
        message = "You are signed out."
        return Redirect("/", message, more={"message": message})

    # Profiles

    async def own_profile(self, incoming: Incoming) -> Answer:
        """The same keys as another's profile; who is not signed in is told so, without a redirect for programs."""
        if not incoming.who.signed_in:
            return Redirect("/account/signin", more={"status": "not_signed_in"})
        return await self._profile_page(incoming, await self._accounts.profile(_me(incoming)))

    async def profile(self, incoming: Incoming, name: str) -> Answer:
        found = await self._accounts.find_by_name(name)
        return await self._profile_page(incoming, await self._accounts.profile(found["id"]))

    async def _profile_page(self, incoming: Incoming, row: Row) -> Answer:
        own = row["id"] == incoming.who.acting_user
        contributed = [project_summary(p) for p in await self._projects.of_volunteer(row["id"])]
        created = await self._projects.of_owner(row["id"])
        published = [project_summary(p, owned=own) for p in created if p["published"] and (own or not p["locked"])]
        context: dict[str, Any] = {
            "title": "Profile",
            "user": person(row, api_key=self._accounts.api_key(row) if own else None, private=own),
            "projects_contrib": contributed,
            "projects_created": published,
        }
        if own:
            drafts = [project_summary(p, owned=True) for p in created if not p["published"]]
            context |= {
                "projects_published": published,
                "projects_draft": drafts,
                "projects_created": published + drafts,
            }
        return Page("account/profile.html" if own else "account/public_profile.html", **context)

    # API keys

    async def reset_key_form(self, incoming: Incoming, name: str) -> Answer:
        await self._own_account(incoming, name)
        return Page("account/resetapikey.html", title="A new API key", form=self._forms.blank(incoming))

    async def reset_key(self, incoming: Incoming, name: str) -> Answer:
        row = await self._own_account(incoming, name)
        await self._accounts.reset_api_key(row["id"], incoming.who)
        return Redirect("/account/profile", "New API key generated.")

    async def _own_account(self, incoming: Incoming, name: str) -> Row:
        if not incoming.who.signed_in:
            raise AnonymousError("Sign in first.")
        row = await self._accounts.find_by_name(name)
        if row["id"] != incoming.who.user_id and not incoming.who.admin:
            raise ForbiddenError("This is somebody else's account.")
        return row

    def _again(self, incoming: Incoming, template: str, title: str, error: FormError, names: tuple[str, ...]) -> Answer:
        form = self._forms.refused(incoming, error.errors, *names)
        return Page(template, title=title, form=form, flash=str(error), status="error")


def require_own_page(incoming: Incoming) -> None:
    """Refuses a GET that changes something when another site's page may have caused it.

    ``Content-Type: application/json`` cannot be sent across sites without being asked for first.
    """
    json = incoming.content_type == "application/json"
    if not json and incoming.header("sec-fetch-site") not in ("same-origin", "none"):
        raise ForbiddenError("Use the button of the page.", code="cross_site")


def _registration(incoming: Incoming) -> Registration:
    return Registration(**{a.name: incoming.field(a.name) for a in attrs.fields(Registration)})


def _next(incoming: Incoming, fallback: str = "/") -> str:
    return local(incoming.query.get("next", "") or (incoming.field("next") if incoming.changes_state else ""), fallback)


def _me(incoming: Incoming) -> int:
    if incoming.who.user_id is None:
        raise AnonymousError("Sign in first.")
    return incoming.who.user_id
