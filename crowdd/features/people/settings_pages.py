"""The pages of an account's settings and of the newsletter, and the theme and language of a browser.

The settings are four forms at one address.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, Literal, NotRequired, TypedDict
from urllib.parse import quote

import attrs

from crowdd.core.records.records import Records
from crowdd.features.accounts.accounts import Accounts
from crowdd.features.accounts.rows import AccountPage
from crowdd.features.people.avatars import Avatars
from crowdd.features.people.profiles import PasswordForm, Profile, Profiles
from crowdd.features.signin.providers import TITLES, Providers
from crowdd.features.signin.views import Entry, WayInRecord, changed_words, me, own_account, shown_ways
from crowdd.http.auth.confirmation import Confirm, refuse_json
from crowdd.http.auth.cookies import YEAR, Cookies
from crowdd.http.auth.csrf import Csrf
from crowdd.http.html.forms import CORRECT, Form, Forms, WithForm, crop_box, local
from crowdd.http.reader_language import LANGUAGE_COOKIE
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import FormError, InvalidValueError
from crowdd.kernel.languages import Languages, _
from crowdd.kernel.requester import Requester
from crowdd.kinds.user import USER

_PROFILE = (
    "id", "name", "fullname", "email_addr", "locale", "privacy_mode", "subscribed", "catalog_api",
)  # fmt: skip
_PASSWORD = ("current_password", "new_password", "confirm")
_UPLOAD = ("id", "avatar", "x1", "y1", "x2", "y2")


FormName = Literal["form", "password_form", "upload_form"]


class ConnectedProvider(TypedDict):
    """A provider, and whether the account is connected to it."""

    name: str
    title: str
    connected: bool


class SettingsPublic(Titled, WithForm):
    """``usage`` is what the projects of the account hold (``Quota.usage``).

    ``ways_in``: what may be kept when the password is changed with ``revoke``: send the ``id`` of each as ``keep``.
    """

    show_passwd_form: bool
    ways_in: list[WayInRecord]
    usage: dict[str, dict[str, int]]
    password_form: Form
    upload_form: Form
    flash: str | None
    status: NotRequired[str]


class SettingsPrivate(TypedDict):
    """``user`` is the account, ``locales`` are the languages of the site by code.

    ``revoke`` and ``keep`` are the boxes of the form that are ticked.
    """

    revoke: bool
    keep: list[str]
    user: AccountPage
    locales: dict[str, str]
    providers: list[ConnectedProvider]


class SettingsForms:
    """Carries out the four forms of the settings page."""

    def __init__(self, profiles: Profiles, avatars: Avatars, languages: Languages, entry: Entry) -> None:
        self._profiles, self._avatars, self._languages, self._entry = profiles, avatars, languages, entry
        self._buttons: dict[str, tuple[FormName, Callable[[Incoming, AccountPage], Awaitable[Response]]]] = {
            "Profile": ("form", self._profile),
            "Upload": ("upload_form", self._upload),
            "Password": ("password_form", self._password),
            "External": ("form", self._external),
        }

    async def ways_in(self, user_id: int) -> list[WayInRecord]:
        """What a person may keep who had somebody else in their account."""
        return shown_ways(await self._profiles.ways_in(user_id))

    def sent(self, incoming: Incoming) -> tuple[FormName, Callable[[Incoming, AccountPage], Awaitable[Response]]]:
        """The form whose button ``btn`` names, and what carries it out (raises FormError)."""
        button = incoming.field("btn")
        if button not in self._buttons:
            raise InvalidValueError(f"btn must be one of {', '.join(self._buttons)}.")
        return self._buttons[button]

    async def _profile(self, incoming: Incoming, row: AccountPage) -> Response:
        profile = Profile(
            name=incoming.text("name", row["name"]),
            fullname=incoming.text("fullname", row["fullname"]),
            email_addr=incoming.text("email_addr", row["email_addr"]),
            locale=incoming.text("locale", row["locale"]) or row["locale"],
            privacy_mode=incoming.flag("privacy_mode", row["privacy_mode"]),
            subscribed=incoming.flag("subscribed", row["subscribed"]),
        )
        waits = await self._profiles.update(row, profile, self._languages.names, incoming.who)
        updated = _("Your profile has been updated.")
        sent = _("Your profile has been updated. To start using your new address, open the link that we sent there.")
        return _done(profile.name, sent if waits else updated)

    async def _upload(self, incoming: Incoming, row: AccountPage) -> Response:
        file = incoming.upload("avatar") if incoming.content_type == "multipart/form-data" else None
        if file is None or not file.content:
            raise FormError({"avatar": [_("Choose a picture first.")]})
        await self._avatars.set(row["id"], file, crop_box(incoming), incoming.who)
        return _done(row["name"], _("Your picture has been updated."))

    async def _password(self, incoming: Incoming, row: AccountPage) -> Response:
        if row["id"] != me(incoming):
            raise FormError({"current_password": [_("Only the account's owner can change this password.")]})
        form = PasswordForm(*(incoming.field(name) for name in _PASSWORD))
        revoke, keep = incoming.flag("revoke", False), incoming.all_sent("keep")
        done = await self._profiles.change_password(row, form, incoming.who, revoke=revoke, keep=keep)
        flash = changed_words(done)
        if incoming.by_cookie:
            await self._entry.enter(incoming, done.account, flash)
        return _done(row["name"], flash)

    async def _external(self, incoming: Incoming, row: AccountPage) -> Response:
        await self._profiles.set_service(row["id"], incoming.text("catalog_api", row["catalog_api"]), incoming.who)
        return _done(row["name"], _("Your key has been saved."))


@attrs.frozen(eq=False)
class SettingsPages:
    """/account/<name>/update. ``usage`` returns what the projects of an account hold, from the quota."""

    _accounts: Accounts
    _usage: Callable[[int], Awaitable[dict[str, dict[str, int]]]]
    _languages: Languages
    _providers: Providers
    _forms: Forms
    _settings_forms: SettingsForms

    def routes(self) -> Iterator[Route]:
        yield get("/account/<name>/update", self.form)
        yield post("/account/<name>/update", self.update)

    async def form(self, incoming: Incoming, name: str) -> Response:
        return await self._page(incoming, await own_account(self._accounts, incoming, name))

    async def update(self, incoming: Incoming, name: str) -> Response:
        """Carries out the form whose button ``btn`` names."""
        row = await own_account(self._accounts, incoming, name)
        which, carry_out = self._settings_forms.sent(incoming)
        try:
            return await carry_out(incoming, row)
        except FormError as error:
            return await self._page(incoming, row, which, error)

    async def _page(
        self, incoming: Incoming, row: AccountPage, which: FormName = "form", error: FormError | None = None
    ) -> Response:
        """All forms: the refused one as it was sent, the others as stored."""
        stored: Mapping[str, Any] = row
        changes_password = row["id"] == incoming.who.user_id and row["has_password"]
        public = SettingsPublic(
            title=_("Settings"),
            show_passwd_form=changes_password,
            ways_in=await self._settings_forms.ways_in(row["id"]) if changes_password else [],
            usage=await self._usage(row["id"]),
            form=self._forms.filled(incoming, **{name: stored[name] for name in _PROFILE}),
            password_form=self._forms.blank(incoming, *_PASSWORD),
            upload_form=self._forms.filled(incoming, **{**dict.fromkeys(_UPLOAD), "id": row["id"]}),
            flash=None,
        )
        if error is not None:
            if which == "form":
                sent = {name: incoming.field(name) for name in _PROFILE if name in incoming.form and name != "id"}
                public["form"] |= sent
            public[which]["errors"] = error.errors
            public["flash"], public["status"] = CORRECT, "error"
        return Page("account/update.html", public, self._private(incoming, row))

    def _private(self, incoming: Incoming, row: AccountPage) -> SettingsPrivate:
        own = row["id"] == incoming.who.user_id
        ids: Mapping[str, Any] = row
        connected = {name: bool(ids[f"{name}_user_id"]) for name in self._providers.found if own}
        return SettingsPrivate(
            user=row,
            revoke=incoming.changes_state and incoming.flag("revoke", False),
            keep=incoming.all_sent("keep") if incoming.changes_state else [],
            locales=self._languages.names,
            providers=[
                ConnectedProvider(name=name, title=TITLES[name], connected=is_connected)
                for name, is_connected in connected.items()
            ],
        )


def _done(name: str, flash: str) -> Response:
    return Redirect(f"/account/{quote(name)}/update", flash)


_WORDS = {"true": True, "false": False}


class NewsletterPublic(Titled):
    """``next`` is where a front end goes after the choice."""

    next: str


class NewsletterPrivate(TypedDict):
    form: Form


class NewsletterPages:
    """/account/newsletter."""

    def __init__(self, profiles: Profiles, forms: Forms) -> None:
        self._profiles, self._forms, self._confirm = profiles, forms, Confirm(forms.csrf)

    def routes(self) -> Iterator[Route]:
        yield get("/account/newsletter", self.newsletter)
        yield post("/account/newsletter", self.answer_newsletter)

    async def newsletter(self, incoming: Incoming) -> Response:
        """The question. Programs may answer with ``subscribe`` in the address; browsers must use the form."""
        person = me(incoming)
        if "subscribe" in incoming.query:
            if self._confirm.acts(incoming):
                return await self._subscribe(person, incoming.query["subscribe"])
            refuse_json(incoming)
        await self._profiles.subscribe(person, None)
        public = NewsletterPublic(title=_("Newsletter"), next="/")
        return Page("account/newsletter.html", public, NewsletterPrivate(form=self._forms.blank(incoming)))

    async def answer_newsletter(self, incoming: Incoming) -> Response:
        return await self._subscribe(me(incoming), incoming.field("subscribe"))

    async def _subscribe(self, person: int, choice: str) -> Response:
        wanted = _WORDS.get(choice.strip().lower())
        if wanted is None:
            raise InvalidValueError("subscribe must be true or false.")
        await self._profiles.subscribe(person, wanted)
        return Redirect(
            "/",
            _("You are subscribed to the newsletter.") if wanted else _("You are not subscribed to the newsletter."),
        )


class Preferences:
    """``/preferences``."""

    def __init__(self, records: Records, languages: Languages, cookies: Cookies, csrf: Csrf) -> None:
        self._records, self._languages, self._cookies, self._csrf = records, languages, cookies, csrf

    def routes(self) -> Iterator[Route]:
        yield post("/preferences", self.preferences, csrf=False)

    async def preferences(self, incoming: Incoming) -> Response:
        """Stores theme and language for this browser, and the language for the account, which has precedence."""
        self._csrf.check_choice(incoming)
        theme, locale = incoming.field("theme"), incoming.field("locale")
        if "theme" in incoming.form:
            chosen = theme if theme in ("light", "dark") else ""
            self._cookies.set(incoming, "theme", chosen, seconds=YEAR if chosen else 0)
        if locale in self._languages.names:
            self._cookies.set(incoming, LANGUAGE_COOKIE, locale, seconds=YEAR)
            await self._store_locale(incoming.who, locale)
        return Redirect(local(incoming.field("next")))

    async def _store_locale(self, who: Requester, locale: str) -> None:
        if who.acting_user is not None and who.locale != locale:
            await self._records.change(USER, who, who.acting_user, {"locale": locale})
