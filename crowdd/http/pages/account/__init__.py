"""Rooms of the pages below /account."""

from __future__ import annotations

from typing import Any

from crowdd.domain.server.services import Domain
from crowdd.http.auth.cookies import Cookies
from crowdd.http.html.forms import Forms
from crowdd.http.pages.account.access import Entry
from crowdd.http.pages.account.account_deletion import LeavingPages
from crowdd.http.pages.account.devices import DevicePages
from crowdd.http.pages.account.email_confirmation import ConfirmPages
from crowdd.http.pages.account.passkeys import PasskeyPages
from crowdd.http.pages.account.password_reset import RecoveryPages
from crowdd.http.pages.account.password_strength import StrengthPages
from crowdd.http.pages.account.profiles import ProfilePages
from crowdd.http.pages.account.providers import ProviderPages
from crowdd.http.pages.account.recent_proof import ProvePages
from crowdd.http.pages.account.registration import RegisterPages
from crowdd.http.pages.account.second_factor import SecondStepPages
from crowdd.http.pages.account.security import SecurityPages
from crowdd.http.pages.account.settings import SettingsPages
from crowdd.http.pages.account.sign_in import SignInPages
from crowdd.http.pages.account.tokens import TokenPages
from crowdd.http.pages.account.user_list import CommunityPages


def rooms(domain: Domain, forms: Forms, cookies: Cookies) -> list[Any]:
    """Everything about accounts in the browser."""
    entry = Entry(domain, cookies)
    return [
        RegisterPages(domain, forms, entry),
        SignInPages(domain, forms, entry),
        SecondStepPages(domain, forms, entry),
        ProvePages(domain, forms, entry),
        SecurityPages(domain, forms),
        PasskeyPages(domain, forms, entry),
        TokenPages(domain, forms),
        ProfilePages(domain, forms),
        SettingsPages(domain, forms, entry),
        DevicePages(domain, forms, entry),
        ProviderPages(domain, forms, entry),
        LeavingPages(domain, forms, entry),
        ConfirmPages(domain, forms, entry),
        RecoveryPages(domain, forms, entry),
        CommunityPages(domain),
        StrengthPages(domain),
    ]
