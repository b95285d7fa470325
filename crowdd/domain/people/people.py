"""Everything about people with accounts, put together."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial

import attrs

from crowdd.config import Settings
from crowdd.domain.accounts import Accounts
from crowdd.domain.attempts import Attempts
from crowdd.domain.gather import Gathering
from crowdd.domain.mail.mail import Mail
from crowdd.domain.passwords import Passwords
from crowdd.domain.people.api_tokens import ApiTokens
from crowdd.domain.people.arrivals import Arrivals
from crowdd.domain.people.avatars import Avatars
from crowdd.domain.people.claims import Claims
from crowdd.domain.people.community import Community
from crowdd.domain.people.confirming import Confirming
from crowdd.domain.people.farewell import Farewell
from crowdd.domain.people.new_device import NewDevices
from crowdd.domain.people.passkeys import Passkeys, RelyingParty
from crowdd.domain.people.personal_data import PersonalData
from crowdd.domain.people.policy import PasswordPolicy
from crowdd.domain.people.profiles import Profiles
from crowdd.domain.people.proofs import Proofs
from crowdd.domain.people.providers import Provider, Providers
from crowdd.domain.people.recovery import Recovery
from crowdd.domain.people.recovery_codes import RecoveryCodes
from crowdd.domain.people.revoking import Revoking
from crowdd.domain.people.second_factor import SecondFactors
from crowdd.domain.people.sessions import Sessions
from crowdd.domain.people.signing_in import SigningIn
from crowdd.domain.people.totp import Totp
from crowdd.domain.people.workshop import Workshop
from crowdd.domain.queue import Queue
from crowdd.domain.secrets import Secrets
from crowdd.domain.security_log import SecurityLog
from crowdd.domain.uploads import Uploads
from crowdd.storage import accounts as storage_accounts
from crowdd.storage.database import Transactions


@attrs.frozen
class People:
    """What pages do with accounts beside ``domain.accounts``."""

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
        settings.accounts.attempts,
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
