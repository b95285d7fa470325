"""Rooms of the pages below /account."""

from __future__ import annotations

from typing import Any

from crowdd.domain.domain import Domain
from crowdd.http.cookies import Cookies
from crowdd.http.forms import Forms
from crowdd.http.pages.account.community import CommunityPages
from crowdd.http.pages.account.confirming import ConfirmPages
from crowdd.http.pages.account.devices import DevicePages
from crowdd.http.pages.account.entry import Entry
from crowdd.http.pages.account.leaving import LeavingPages
from crowdd.http.pages.account.passkeys import PasskeyPages
from crowdd.http.pages.account.profiles import ProfilePages
from crowdd.http.pages.account.providers import ProviderPages
from crowdd.http.pages.account.proving import ProvePages
from crowdd.http.pages.account.recovery import RecoveryPages
from crowdd.http.pages.account.registering import RegisterPages
from crowdd.http.pages.account.second_step import SecondStepPages
from crowdd.http.pages.account.security import SecurityPages
from crowdd.http.pages.account.settings import SettingsPages
from crowdd.http.pages.account.signing_in import SignInPages
from crowdd.http.pages.account.strength import StrengthPages
from crowdd.http.pages.account.tokens import TokenPages


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
