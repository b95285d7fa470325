"""The pages and the API of signin."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from crowdd.core.base import Base
from crowdd.features.accounts.feature import AccountsFeature
from crowdd.features.signin.api import TokensApi
from crowdd.features.signin.factor_pages import PasskeyPages, SecondStepPages
from crowdd.features.signin.feature import SigninFeature
from crowdd.features.signin.identity import Identity
from crowdd.features.signin.provider_pages import ProviderPages
from crowdd.features.signin.registration_pages import ConfirmPages, RegisterPages, StrengthPages
from crowdd.features.signin.security_pages import DevicePages, SecurityPages, TokenPages
from crowdd.features.signin.sign_in_pages import ProvePages, RecoveryPages, SignInPages
from crowdd.features.signin.views import EarlierAnswers, Entry, SecondSteps
from crowdd.http.auth.confirmation import Confirm
from crowdd.http.routing import View
from crowdd.http.web import FeatureWeb, Web


@attrs.frozen
class SigninWeb(FeatureWeb):
    """Signin in the browser and over REST."""

    web: Web
    base: Base
    accounts: AccountsFeature
    signin: SigninFeature

    @property
    def identity(self) -> Identity:
        """What finds the requester of a request."""
        return Identity(
            self.base.settings,
            self.base.secrets,
            self.accounts.accounts,
            self.accounts.sessions,
            self.signin.api_tokens,
            self.web.cookies,
            self.web.csrf,
            self.web.volunteers,
            self.base.security_log,
        )

    @property
    def entry(self) -> Entry:
        """What opens and closes sessions of browsers."""
        return Entry(
            self.accounts.sessions,
            self.signin.new_devices,
            self.base.security_log,
            self._second_steps(),
            self.signin.same_person,
            self.web.volunteers,
            self.base.settings.accounts.session_days,
        )

    def _second_steps(self) -> SecondSteps:
        return SecondSteps(self.signin.second_factors, self.accounts.now, self.web.cookies)

    def _earlier_answers(self) -> EarlierAnswers:
        return EarlierAnswers(self.signin.answer_claims, self.web.volunteers, self.base.settings.accounts.link_hours)

    def views(self) -> Iterator[View]:
        accounts, sessions, forms = self.accounts.accounts, self.accounts.sessions, self.web.forms
        entry, second_steps, earlier_answers = self.entry, self._second_steps(), self._earlier_answers()
        factors, confirmation, providers = (
            self.signin.second_factors,
            self.signin.email_confirmation,
            self.signin.providers,
        )
        yield TokensApi(self.signin.social_login)
        yield RegisterPages(
            accounts,
            self.signin.social_login,
            confirmation,
            forms,
            entry,
            earlier_answers,
            self.accounts.invitations,
        )
        yield SignInPages(self.signin.signing_in, providers, factors, forms, entry)
        yield SecondStepPages(factors, second_steps, forms, entry)
        yield ProvePages(accounts, factors, self.signin.signing_in, providers, forms, entry)
        yield SecurityPages(accounts, factors, self.signin.api_tokens, sessions, forms)
        yield PasskeyPages(accounts, factors, forms, entry)
        yield TokenPages(accounts, self.signin.api_tokens, forms)
        yield DevicePages(accounts, sessions, forms, entry, earlier_answers)
        yield ProviderPages(
            accounts,
            providers,
            self.signin.social_login,
            factors,
            Confirm(forms.csrf),
            entry,
            second_steps,
            self.base.settings.http.spa_base_url.rstrip("/"),
        )
        yield ConfirmPages(accounts, confirmation, forms, entry, earlier_answers)
        yield RecoveryPages(self.signin.recovery, forms, entry)
        yield StrengthPages(self.accounts.policy, self.base.languages)
