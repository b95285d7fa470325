"""The views below /account."""

from __future__ import annotations

from functools import partial

from crowdd.domain.server.services import Services
from crowdd.http.auth.volunteers import VolunteerCookies
from crowdd.http.html.forms import Forms
from crowdd.http.pages.account.access import Entry, SecondSteps
from crowdd.http.pages.account.account_deletion import LeavingPages
from crowdd.http.pages.account.devices import DevicePages
from crowdd.http.pages.account.earlier_answers import EarlierAnswers
from crowdd.http.pages.account.email_confirmation import ConfirmPages
from crowdd.http.pages.account.newsletter import NewsletterPages
from crowdd.http.pages.account.passkeys import PasskeyPages
from crowdd.http.pages.account.password_reset import RecoveryPages
from crowdd.http.pages.account.password_strength import StrengthPages
from crowdd.http.pages.account.profiles import ProfilePages
from crowdd.http.pages.account.providers import ProviderPages
from crowdd.http.pages.account.recent_proof import ProvePages
from crowdd.http.pages.account.registration import RegisterPages
from crowdd.http.pages.account.second_factor import SecondStepPages
from crowdd.http.pages.account.security import SecurityPages
from crowdd.http.pages.account.settings import SettingsForms, SettingsPages
from crowdd.http.pages.account.sign_in import SignInPages
from crowdd.http.pages.account.tokens import TokenPages
from crowdd.http.pages.account.user_list import CommunityPages
from crowdd.http.routing import View


def pages(services: Services, forms: Forms, volunteers: VolunteerCookies) -> list[View]:
    """The views of accounts in the browser."""
    accounts, people, settings = services.accounts, services.people, services.settings
    second_steps = SecondSteps(people.second_factors, people.now, volunteers.cookies)
    entry = Entry(
        people.sessions,
        people.new_devices,
        services.security_log,
        second_steps,
        people.same_person,
        volunteers,
        settings.accounts.session_days,
    )
    earlier_answers = EarlierAnswers(people.answer_claims, volunteers, settings.accounts.link_hours)
    settings_forms = SettingsForms(people.profiles, people.avatars, services.languages, entry)
    usage = partial(services.quota.usage, services.db)
    return [
        RegisterPages(
            accounts,
            people.social_login,
            people.email_confirmation,
            forms,
            entry,
            earlier_answers,
            services.invitations,
        ),
        SignInPages(people.signing_in, people.providers, people.second_factors, forms, entry),
        SecondStepPages(people.second_factors, second_steps, forms, entry),
        ProvePages(accounts, people.second_factors, people.signing_in, people.providers, forms, entry),
        SecurityPages(accounts, people.second_factors, people.api_tokens, people.sessions, forms),
        PasskeyPages(accounts, people.second_factors, forms, entry),
        TokenPages(accounts, people.api_tokens, forms),
        ProfilePages(accounts, services.projects, people.email_confirmation, forms),
        SettingsPages(accounts, usage, services.languages, people.providers, forms, settings_forms),
        NewsletterPages(people.profiles, forms),
        DevicePages(accounts, people.sessions, forms, entry, earlier_answers),
        ProviderPages(
            accounts,
            people.providers,
            people.social_login,
            people.second_factors,
            forms,
            entry,
            second_steps,
            settings.http.spa_base_url,
        ),
        LeavingPages(accounts, people.personal_data, people.account_deletion, people.signing_in, forms, entry),
        ConfirmPages(accounts, people.email_confirmation, forms, entry, earlier_answers),
        RecoveryPages(people.recovery, forms, entry),
        CommunityPages(accounts, people.user_list, services.statistics),
        StrengthPages(people.policy, services.languages),
    ]
