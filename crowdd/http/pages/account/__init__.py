"""Rooms of the pages below /account."""

from __future__ import annotations

from typing import Any

from crowdd.domain.server.services import Services
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


def rooms(services: Services, forms: Forms, cookies: Cookies) -> list[Any]:
    """Everything about accounts in the browser."""
    entry = Entry(services, cookies)
    return [
        RegisterPages(services, forms, entry),
        SignInPages(services, forms, entry),
        SecondStepPages(services, forms, entry),
        ProvePages(services, forms, entry),
        SecurityPages(services, forms),
        PasskeyPages(services, forms, entry),
        TokenPages(services, forms),
        ProfilePages(services, forms),
        SettingsPages(services, forms, entry),
        DevicePages(services, forms, entry),
        ProviderPages(services, forms, entry),
        LeavingPages(services, forms, entry),
        ConfirmPages(services, forms, entry),
        RecoveryPages(services, forms, entry),
        CommunityPages(services),
        StrengthPages(services),
    ]
