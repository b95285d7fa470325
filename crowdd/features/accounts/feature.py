"""Accounts: who people are, their passwords, sessions and invitations."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from functools import partial

import attrs

from crowdd.core.base import Base
from crowdd.core.feature import Feature
from crowdd.features.accounts import statements
from crowdd.features.accounts.accounts import Accounts, Administrators, UserBehaviour
from crowdd.features.accounts.email_links import EmailLinks
from crowdd.features.accounts.invitations import Invitations
from crowdd.features.accounts.passwords import PasswordPolicy, Passwords
from crowdd.features.accounts.sessions import Sessions


@attrs.frozen
class AccountsFeature(Feature):
    """``passwords`` has threads. ``now``: epoch seconds of the database's clock."""

    accounts: Accounts
    passwords: Passwords
    policy: PasswordPolicy
    sessions: Sessions
    invitations: Invitations
    email_links: EmailLinks
    now: Callable[[], Awaitable[float]]

    @classmethod
    def build(cls, base: Base) -> AccountsFeature:
        db, secrets, settings = base.db, base.secrets, base.settings
        threads = max(1, (os.cpu_count() or 1) // 2)
        passwords = base.shared.once("passwords", lambda: Passwords(base.shared.reactor, threads=threads))
        policy, invitations = PasswordPolicy(passwords, settings, base.site.name), Invitations(db, secrets, base.mail)
        administrators = Administrators(base.security_log, base.mail)
        base.set_behaviours(UserBehaviour(administrators))
        accounts = Accounts(
            db,
            base.new_batcher,
            passwords,
            policy,
            base.attempts,
            secrets,
            base.security_log,
            administrators,
            base.site,
            invitations,
        )
        limits = settings.accounts
        return cls(
            accounts=accounts,
            passwords=passwords,
            policy=policy,
            sessions=Sessions(db, base.new_batcher, secrets, limits.session_days, limits.session_max_days),
            invitations=invitations,
            email_links=EmailLinks(base.mail, secrets, settings.http.spa_base_url or base.base_url, limits.link_hours),
            now=partial(statements.read_time, db),
        )

    def start(self) -> None:
        self.passwords.start()

    def stop(self) -> None:
        self.passwords.stop()
