"""Everything about people with accounts, put together."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial

import attrs

from crowdd.concurrency.batching import BatcherFactory
from crowdd.concurrency.worker_thread import WorkerThread
from crowdd.config import Settings
from crowdd.domain.accounts.access_revocation import Revoking
from crowdd.domain.accounts.account_deletion import AccountDeletion
from crowdd.domain.accounts.accounts import Accounts
from crowdd.domain.accounts.answer_claims import AnswerClaims
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
from crowdd.domain.accounts.email_confirmation import EmailConfirmation
from crowdd.domain.accounts.email_links import EmailLinks
from crowdd.domain.accounts.invitations import Invitations
from crowdd.domain.accounts.personal_data import PersonalData
from crowdd.domain.accounts.profiles import Profiles
from crowdd.domain.accounts.same_person import SamePerson
from crowdd.domain.accounts.social.providers import Provider, Providers
from crowdd.domain.accounts.social.social_login import SocialLogin
from crowdd.domain.accounts.user_list import UserList
from crowdd.domain.core.attempt_limits import Attempts
from crowdd.domain.core.background_queue import Queue
from crowdd.domain.core.secrets import Secrets
from crowdd.domain.core.security_log import SecurityLog
from crowdd.domain.core.site import Site
from crowdd.domain.core.uploads import Uploads
from crowdd.domain.mail.mail import Mail
from crowdd.storage.accounts import accounts as storage_accounts
from crowdd.storage.database import Transactions


@attrs.frozen
class People:
    """What pages do with accounts beside ``domain.accounts.accounts``."""

    worker_thread: WorkerThread
    policy: PasswordPolicy
    providers: Providers
    social_login: SocialLogin
    sessions: Sessions
    signing_in: SigningIn
    profiles: Profiles
    avatars: Avatars
    answer_claims: AnswerClaims
    same_person: SamePerson
    user_list: UserList
    recovery: Recovery
    email_confirmation: EmailConfirmation
    personal_data: PersonalData
    account_deletion: AccountDeletion
    second_factors: SecondFactors
    api_tokens: ApiTokens
    new_devices: NewDevices
    now: Callable[[], Awaitable[float]]  # epoch seconds of the database's clock


def build_people(
    db: Transactions,
    new_batcher: BatcherFactory,
    settings: Settings,
    secrets: Secrets,
    passwords: Passwords,
    policy: PasswordPolicy,
    attempts: Attempts,
    worker_thread: WorkerThread,
    uploads: Uploads,
    notify: Callable[[int], None],
    social_providers: Mapping[str, Provider],
    accounts: Accounts,
    queue: Queue,
    mail: Mail,
    security_log: SecurityLog,
    site: Site,
    invitations: Invitations,
) -> People:
    """The people on a database."""
    signing_in = SigningIn(db, passwords, attempts, settings.accounts, security_log)
    social_login = SocialLogin(db, accounts, secrets, invitations)
    front = settings.http.spa_base_url or settings.base_url
    email_links = EmailLinks(mail, secrets, front, settings.accounts.link_hours)
    exports = PersonalData(db, queue, uploads, worker_thread.another(), email_links, settings.data.dir / "exports")
    email_confirmation = EmailConfirmation(
        db, accounts, social_login, passwords, email_links, attempts, settings, security_log, invitations
    )
    revoking = Revoking(accounts, security_log)
    party = RelyingParty.of(settings.base_url, site.name, settings.http.allowed_origins)
    factors = SecondFactors(
        db,
        Totp(db, secrets, site.name),
        Passkeys(db, secrets, party),
        RecoveryCodes(db, secrets, email_links, security_log),
        attempts,
        email_links,
        settings.accounts.max_login_failures,
        security_log,
    )
    return People(
        worker_thread=worker_thread,
        policy=policy,
        sessions=Sessions(db, new_batcher, secrets, settings.accounts.session_days, settings.accounts.session_max_days),
        providers=Providers(db, social_providers, settings.base_url),
        social_login=social_login,
        signing_in=signing_in,
        profiles=Profiles(db, passwords, policy, signing_in, email_confirmation, email_links, revoking, security_log),
        avatars=Avatars(db, worker_thread, uploads, settings.base_url),
        answer_claims=AnswerClaims(db, queue, notify),
        same_person=SamePerson(db, notify),
        user_list=UserList(db),
        recovery=Recovery(
            db, passwords, policy, email_links, revoking, attempts, queue, settings.accounts, security_log
        ),
        email_confirmation=email_confirmation,
        personal_data=exports,
        account_deletion=AccountDeletion(db, queue, uploads, secrets, exports, notify),
        second_factors=factors,
        api_tokens=ApiTokens(db, new_batcher, secrets, security_log),
        new_devices=NewDevices(db, email_links),
        now=partial(storage_accounts.now, db),
    )
