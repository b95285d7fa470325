"""Sign-in with google, github or orcid, and connecting an account to one of them."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from functools import partial
from urllib.parse import quote

import attrs
import orjson

from crowdd.core import recent_proof
from crowdd.features.accounts.accounts import Accounts
from crowdd.features.signin.providers import FLOW_SECONDS, PROVIDERS, TITLES, OAuthState, ProviderIdentity, Providers
from crowdd.features.signin.second_factors import SecondFactors
from crowdd.features.signin.social_login import InvitationNeededError, NoAddressError, SocialLogin
from crowdd.features.signin.views import SECOND_PAGE, Entry, SecondSteps, me, next_address, own_account
from crowdd.http.auth.confirmation import Confirm, Question
from crowdd.http.auth.cookies import FLOW, NEWCOMER
from crowdd.http.errors import message_of
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import ForbiddenError, ProviderError
from crowdd.kernel.languages import _

_NEWCOMER_SECONDS = 1800


class LeavingPublic(Titled):
    """``next`` is the address of the provider."""

    next: str


@attrs.frozen(eq=False)
class ProviderPages:
    """/<provider>/, /<provider>/oauth_authorized and /account/<name>/unlink."""

    _accounts: Accounts
    _providers: Providers
    _social_login: SocialLogin
    _second_factors: SecondFactors
    _confirm: Confirm
    _entry: Entry
    _second_steps: SecondSteps
    _front_end: str

    def routes(self) -> Iterator[Route]:
        for name in PROVIDERS:
            yield get(f"/{name}/", partial(self.begin_or_ask, name=name), proof=True)
            yield post(f"/{name}/", partial(self.connect, name=name), proof=True)
            yield get(f"/{name}/oauth_authorized", partial(self.finish, name=name))
        yield post("/account/<name>/unlink", self.disconnect, proof=True)
        yield post("/account/prove/<provider>", self.begin_proof)

    async def begin_or_ask(self, incoming: Incoming, name: str) -> Response:
        """Sends the browser to the provider to sign in. People who are signed in get a question first.

        Otherwise a link on another site could connect a stranger's account at the provider to theirs here.
        """
        if not incoming.who.signed_in or self._confirm.acts(incoming):
            return await self._begin(incoming, name, Redirect)
        title = TITLES[name]
        text = _("You will be able to sign in to this site with your account at %(provider)s.", provider=title)
        question = Question(_("Connect %(provider)s?", provider=title), text, _("Connect"))
        return self._confirm.page(incoming, question)

    async def connect(self, incoming: Incoming, name: str) -> Response:
        """Sends a signed-in person to the provider by way of a page: a form may not lead to another site."""
        me(incoming)
        return await self._begin(incoming, name, _onward(incoming))

    async def begin_proof(self, incoming: Incoming, provider: str) -> Response:
        """Sends a signed-in person to their provider to sign in again, as a proof without a password.

        People with a password or a second factor use that: the provider may not ask them for anything.
        """
        recent_proof.require_session(incoming.who)
        row = await self._accounts.profile(me(incoming))
        if row["has_password"] or await self._second_factors.required(row["id"]):
            raise ForbiddenError(_("Confirm with your password or your second factor."))
        return await self._begin(incoming, provider, _onward(incoming), proof=True)

    async def _begin(
        self, incoming: Incoming, name: str, onward: Callable[[str], Response], *, proof: bool = False
    ) -> Response:
        next_ = next_address(incoming)
        try:
            oauth_state, address = await self._providers.begin(name, next_, incoming.who.user_id, proof=proof)
        except ProviderError as error:
            return self._refused(message_of(error), incoming.who.signed_in)
        self._entry.cookies.set_encrypted(incoming, FLOW, oauth_state.packed(), seconds=FLOW_SECONDS)
        return onward(address)

    async def finish(self, incoming: Incoming, name: str) -> Response:
        """The address to which the provider sends the browser back."""
        packed = self._entry.cookies.encrypted(incoming, FLOW)
        oauth_state = OAuthState.unpacked(packed) if packed else None
        self._entry.cookies.drop(incoming, FLOW)
        try:
            identity = await self._providers.finish(name, oauth_state, incoming.query)
            return await self._arrive(incoming, identity, oauth_state)
        except ProviderError as error:
            return self._refused(message_of(error), incoming.who.signed_in)

    async def _arrive(self, incoming: Incoming, identity: ProviderIdentity, oauth_state: OAuthState | None) -> Response:
        if oauth_state is None or oauth_state.user_id != incoming.who.user_id:
            raise ProviderError(_("Another person is now signed in in this browser. Start again."))
        title = TITLES[identity.provider]
        if oauth_state.proof:
            await self._prove(incoming, identity)
            return self._on(oauth_state.next, "")
        if oauth_state.user_id is not None:
            await self._social_login.connect(oauth_state.user_id, identity, incoming.who)
            address = f"/account/{quote(incoming.who.user_name)}/update"
            return self._on(address, _("You can sign in with %(provider)s from now on.", provider=title))
        try:
            account, new = await self._social_login.sign_in(identity, incoming.who)
        except InvitationNeededError as error:
            self._entry.cookies.set_encrypted(incoming, NEWCOMER, identity.packed(), seconds=_NEWCOMER_SECONDS)
            invited = oauth_state.next.startswith("/account/register?invitation=")
            return self._on(oauth_state.next if invited else "/account/register", message_of(error), "info")
        except NoAddressError:
            self._entry.cookies.set_encrypted(incoming, NEWCOMER, identity.packed(), seconds=_NEWCOMER_SECONDS)
            return self._on(
                f"/account/register?next={quote(oauth_state.next)}",
                _("%(provider)s did not send an e-mail address. Please add one.", provider=title),
                "info",
            )
        if await self._second_steps.begin(incoming, account, oauth_state.next):
            return self._on(SECOND_PAGE, "")
        await self._entry.enter(incoming, account, "")
        return self._on(
            oauth_state.next,
            _("Welcome. You signed in with %(provider)s.", provider=title) if new else _("Welcome back."),
        )

    async def _prove(self, incoming: Incoming, identity: ProviderIdentity) -> None:
        if not await self._social_login.knows(me(incoming), identity):
            raise ProviderError(_("Your account is connected to another account there. Sign in with that one."))
        await self._entry.prove(incoming)

    async def disconnect(self, incoming: Incoming, name: str) -> Response:
        """Disconnects the provider that the field names."""
        row = await own_account(self._accounts, incoming, name)
        provider, here = incoming.field("provider"), f"/account/{quote(row['name'])}/update"
        try:
            await self._social_login.disconnect(row, provider, incoming.who)
        except ProviderError as error:
            return Redirect(here, message_of(error), "error")
        return Redirect(here, _("You can no longer sign in with %(provider)s.", provider=TITLES[provider]))

    def _refused(self, words: str, signed_in: bool) -> Response:
        return self._on("/account/profile" if signed_in else "/account/signin", words, "error")

    def _on(self, path: str, flash: str, status: str = "success") -> Response:
        """A redirect to a page of this site, or to the same path of a front end elsewhere with the message in it."""
        if not self._front_end:
            return Redirect(path, flash, status)
        if not flash:
            return Redirect(f"{self._front_end}{path}")
        packed = base64.urlsafe_b64encode(orjson.dumps({"flash": flash, "status": status})).decode()
        return Redirect(f"{self._front_end}{path}{'&' if '?' in path else '?'}flash={quote(packed)}", flash, status)


def _onward(incoming: Incoming) -> Callable[[str], Response]:
    return Redirect if incoming.wants_json else _leaving


def _leaving(address: str) -> Response:
    """A page that goes to the provider by itself: the policy for forms also applies to redirects after a form."""
    return Page("account/leaving.html", LeavingPublic(title=_("Continue to the provider"), next=address))
