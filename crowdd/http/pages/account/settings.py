"""What people change of their own account: four forms under one address, and the newsletter."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from crowdd.domain.accounts.profiles import Profile
from crowdd.domain.accounts.social.oauth import TITLES
from crowdd.domain.server.services import Services
from crowdd.errors import FormError, InvalidValueError
from crowdd.http.auth.confirmation import Confirm, refuse_json
from crowdd.http.html.forms import CORRECT, Forms, crop_box
from crowdd.http.pages.account.access import Entry, changed_words, me, own_account
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.languages import _
from crowdd.storage.accounts.rows import AccountPage

_PROFILE = (
    "id", "name", "fullname", "email_addr", "locale", "privacy_mode", "subscribed", "catalog_api",
)  # fmt: skip
_PASSWORD = ("current_password", "new_password", "confirm")
_UPLOAD = ("id", "avatar", "x1", "y1", "x2", "y2")
_WORDS = {"true": True, "false": False}


class SettingsPages:
    """/account/<name>/update and /account/newsletter."""

    def __init__(self, services: Services, forms: Forms, entry: Entry) -> None:
        self._services, self._forms, self._entry = services, forms, entry
        self._confirm = Confirm(forms.csrf)
        self._profiles, self._avatars = services.people.profiles, services.people.avatars
        self._buttons: dict[str, tuple[str, Callable[[Incoming, AccountPage], Awaitable[Response]]]] = {
            "Profile": ("form", self._profile),
            "Upload": ("upload_form", self._upload),
            "Password": ("password_form", self._password),
            "External": ("form", self._external),
        }

    def routes(self) -> Iterator[Route]:
        yield get("/account/<name>/update", self.form)
        yield post("/account/<name>/update", self.update)
        yield get("/account/newsletter", self.newsletter)
        yield post("/account/newsletter", self.answer_newsletter)

    async def form(self, incoming: Incoming, name: str) -> Response:
        return await self._page(incoming, await own_account(self._services, incoming, name))

    async def update(self, incoming: Incoming, name: str) -> Response:
        """Carries out the one of four forms whose button ``btn`` names."""
        row = await own_account(self._services, incoming, name)
        button = incoming.field("btn")
        if button not in self._buttons:
            raise InvalidValueError(f"btn is one of {', '.join(self._buttons)}.")
        which, carry_out = self._buttons[button]
        try:
            return await carry_out(incoming, row)
        except FormError as error:
            return await self._page(incoming, row, which, error)

    async def _profile(self, incoming: Incoming, row: AccountPage) -> Response:
        said = Profile(
            name=incoming.text("name", row["name"]),
            fullname=incoming.text("fullname", row["fullname"]),
            email_addr=incoming.text("email_addr", row["email_addr"]),
            locale=incoming.text("locale", row["locale"]) or row["locale"],
            privacy_mode=incoming.flag("privacy_mode", row["privacy_mode"]),
            subscribed=incoming.flag("subscribed", row["subscribed"]),
        )
        waits = await self._profiles.update(row, said, self._services.languages.names, incoming.who)
        updated = _("Your profile has been updated.")
        sent = _("Your profile has been updated. To start using your new address, open the link that we sent there.")
        return _done(said.name, sent if waits else updated)

    async def _upload(self, incoming: Incoming, row: AccountPage) -> Response:
        file = incoming.upload("avatar") if incoming.content_type == "multipart/form-data" else None
        if file is None or not file.content:
            raise FormError({"avatar": [_("Choose a picture first.")]})
        await self._avatars.set(row["id"], file, crop_box(incoming), incoming.who)
        return _done(row["name"], _("Your picture has been updated."))

    async def _password(self, incoming: Incoming, row: AccountPage) -> Response:
        if row["id"] != me(incoming):
            raise FormError({"current_password": [_("Only the account's owner can change this password.")]})
        current, new, confirm = (incoming.field(name) for name in _PASSWORD)
        revoke = incoming.flag("revoke", False)
        revoked = await self._profiles.change_password(row, current, new, confirm, incoming.who, revoke=revoke)
        flash = changed_words(revoked)
        if incoming.by_cookie:
            await self._entry.enter(incoming, row["id"], flash)
        return _done(row["name"], flash)

    async def _external(self, incoming: Incoming, row: AccountPage) -> Response:
        await self._profiles.set_service(row["id"], incoming.text("catalog_api", row["catalog_api"]), incoming.who)
        return _done(row["name"], _("Your key has been saved."))

    async def _page(
        self, incoming: Incoming, row: AccountPage, which: str = "", error: FormError | None = None
    ) -> Response:
        """All forms; the one that was refused as it was sent, the others as stored."""
        stored: Mapping[str, Any] = row
        forms: dict[str, Any] = {
            "form": self._forms.filled(incoming, **{name: stored[name] for name in _PROFILE}),
            "password_form": self._forms.blank(incoming, *_PASSWORD),
            "upload_form": self._forms.filled(incoming, **{**dict.fromkeys(_UPLOAD), "id": row["id"]}),
        }
        said: dict[str, Any] = {"flash": None}
        if error is not None:
            sent = {name: incoming.field(name) for name in _PROFILE if name in incoming.form and name != "id"}
            forms[which] = {**forms[which], **(sent if which == "form" else {}), "errors": error.errors}
            said = {"flash": CORRECT, "status": "error"}
        own = row["id"] == incoming.who.user_id
        return Page(
            "account/update.html",
            title=_("Settings"),
            show_passwd_form=own and row["has_password"],
            usage=await self._services.quota.usage(self._services.db, row["id"]),
            **forms,
            **said,
            _user=row,
            _locales=self._services.languages.names,
            _providers=[
                {"name": name, "title": TITLES[name], "connected": bool(stored[f"{name}_user_id"])}
                for name in self._services.people.providers.found
                if own
            ],
        )

    async def newsletter(self, incoming: Incoming) -> Response:
        """Asks about the newsletter. With ``subscribe`` a program answers; a browser is asked all the same."""
        person = me(incoming)
        if "subscribe" in incoming.query:
            if self._confirm.acts(incoming):
                return await self._subscribe(person, incoming.query["subscribe"])
            refuse_json(incoming)
        await self._profiles.subscribe(person, None)
        form = self._forms.blank(incoming)
        return Page("account/newsletter.html", title=_("Newsletter"), next="/", _form=form)

    async def answer_newsletter(self, incoming: Incoming) -> Response:
        return await self._subscribe(me(incoming), incoming.field("subscribe"))

    async def _subscribe(self, person: int, said: str) -> Response:
        wanted = _WORDS.get(said.strip().lower())
        if wanted is None:
            raise InvalidValueError("subscribe is true or false.")
        await self._profiles.subscribe(person, wanted)
        return Redirect(
            "/",
            _("You are subscribed to the newsletter.") if wanted else _("You are not subscribed to the newsletter."),
        )


def _done(name: str, flash: str) -> Response:
    return Redirect(f"/account/{quote(name)}/update", flash)
