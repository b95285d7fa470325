"""Everything about people with accounts, put together."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial

import attrs

from crowdd.config import Settings
from crowdd.domain.accounts.access_revocation import Revoking
from crowdd.domain.accounts.account_deletion import Farewell
from crowdd.domain.accounts.accounts import Accounts
from crowdd.domain.accounts.answer_claims import Claims
from crowdd.domain.accounts.api_tokens import ApiTokens
from crowdd.domain.accounts.authentication.new_device import NewDevices
from crowdd.domain.accounts.authentication.passkeys import Passkeys, RelyingParty
from crowdd.domain.accounts.authentication.password_policy import PasswordPolicy
from crowdd.domain.accounts.authentication.password_reset import Recovery
from crowdd.domain.accounts.authentication.passwords import Passwords
from crowdd.domain.accounts.authentication.recovery_codes import RecoveryCodes
from crowdd.domain.accounts.authentication.second_factor import SecondFactors
from crowdd.domain.accounts.authentication.sessions import Sessions
from crowdd.domain.accounts.authentication.sign_in import SigningIn
from crowdd.domain.accounts.authentication.totp import Totp
from crowdd.domain.accounts.avatars import Avatars
from crowdd.domain.accounts.email_confirmation import Confirming
from crowdd.domain.accounts.email_links import Proofs
from crowdd.domain.accounts.personal_data import PersonalData
from crowdd.domain.accounts.profiles import Profiles
from crowdd.domain.accounts.social.providers import Provider, Providers
from crowdd.domain.accounts.social.social_login import Arrivals
from crowdd.domain.accounts.user_list import Community
from crowdd.domain.core.attempt_limits import Attempts
from crowdd.domain.core.background_queue import Queue
from crowdd.domain.core.concurrency.batching import Gathering
from crowdd.domain.core.concurrency.worker_thread import Workshop
from crowdd.domain.core.secrets import Secrets
from crowdd.domain.core.security_log import SecurityLog
from crowdd.domain.core.uploads import Uploads
from crowdd.domain.mail.mail import Mail
from crowdd.storage.accounts import accounts as storage_accounts
from crowdd.storage.database import Transactions


@attrs.frozen
class People:
    """What pages do with accounts beside ``domain.accounts.accounts``."""

    workshop: Workshop
    policy: PasswordPolicy
    providers: Providers
    arrivals: Arrivals
    sessions: Sessions
    signing_in: SigningIn
    profiles: Profiles
    avatars: Avatars
    claims: Claims
    community: Community
    recovery: Recovery
    confirming: Confirming
    personal_data: PersonalData
    farewell: Farewell
    second_factors: SecondFactors
    api_tokens: ApiTokens
    new_devices: NewDevices
    now: Callable[[], Awaitable[float]]  # epoch seconds of the database's clock


def gather(
    db: Transactions,
    gathering: Gathering,
    settings: Settings,
    secrets: Secrets,
    passwords: Passwords,
    policy: PasswordPolicy,
    attempts: Attempts,
    workshop: Workshop,
    uploads: Uploads,
    ring: Callable[[int], None],
    found: Mapping[str, Provider],
    accounts: Accounts,
    queue: Queue,
    mail: Mail,
    security_log: SecurityLog,
) -> People:
    """The people on a database."""
    signing_in = SigningIn(db, passwords, attempts, settings.accounts, security_log)
    arrivals = Arrivals(db, accounts, secrets)
    front = settings.http.spa_base_url or settings.base_url
    proofs = Proofs(mail, secrets, front, settings.accounts.link_hours)
    exports = PersonalData(db, queue, uploads, workshop.another(), proofs, settings.data.dir / "exports")
    confirming = Confirming(db, accounts, arrivals, passwords, proofs, attempts, settings, security_log)
    revoking = Revoking(accounts)
    party = RelyingParty.of(settings.base_url, settings.site.name, settings.http.allowed_origins)
    factors = SecondFactors(
        db,
        Totp(db, secrets, settings.site.name),
        Passkeys(db, secrets, party),
        RecoveryCodes(db, secrets, proofs, security_log),
        attempts,
        proofs,
        settings.accounts.max_login_failures,
        security_log,
    )
    return People(
        workshop=workshop,
        policy=policy,
        sessions=Sessions(db, gathering, secrets, settings.accounts.session_days, settings.accounts.session_max_days),
        providers=Providers(db, found, settings.base_url),
        arrivals=arrivals,
        signing_in=signing_in,
        profiles=Profiles(db, passwords, policy, signing_in, confirming, proofs, revoking, security_log),
        avatars=Avatars(db, workshop, uploads, settings.base_url),
        claims=Claims(db, queue, ring),
        community=Community(db),
        recovery=Recovery(db, passwords, policy, proofs, revoking, attempts, queue, settings.accounts, security_log),
        confirming=confirming,
        personal_data=exports,
        farewell=Farewell(db, queue, uploads, secrets, exports, ring),
        second_factors=factors,
        api_tokens=ApiTokens(db, gathering, secrets, security_log),
        new_devices=NewDevices(db, proofs),
        now=partial(storage_accounts.now, db),
    )
