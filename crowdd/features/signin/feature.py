"""Signing in: second factors, providers, tokens, confirmed addresses, and who sends a request."""

from __future__ import annotations

import attrs

from crowdd.core.base import Base
from crowdd.core.feature import Feature
from crowdd.database.access import Database
from crowdd.features.accounts import statements as account_statements
from crowdd.features.accounts.feature import AccountsFeature
from crowdd.features.signin.access_revocation import Revoking
from crowdd.features.signin.answer_claims import HANDLER as CLAIM_ANSWERS_TASK
from crowdd.features.signin.answer_claims import AnswerClaims
from crowdd.features.signin.api_tokens import ApiTokens
from crowdd.features.signin.email_confirmation import EmailConfirmation
from crowdd.features.signin.passkeys import Passkeys, RelyingParty
from crowdd.features.signin.password_reset import HANDLER as PASSWORD_RESET_MAIL_TASK
from crowdd.features.signin.password_reset import Recovery
from crowdd.features.signin.providers import Providers, build_providers
from crowdd.features.signin.same_person import SamePerson
from crowdd.features.signin.second_factors import RecoveryCodes, SecondFactors, Totp
from crowdd.features.signin.sign_in import NewDevices, SigningIn
from crowdd.features.signin.social_login import SocialLogin
from crowdd.kernel.languages import _
from crowdd.sched.feature import Scheduling
from crowdd.sched.job import MINUTE, Handler, Job
from crowdd.sched.queue import QueuedTask


@attrs.frozen
class SigninFeature(Feature):
    """How people prove who they are."""

    signing_in: SigningIn
    providers: Providers
    social_login: SocialLogin
    second_factors: SecondFactors
    api_tokens: ApiTokens
    new_devices: NewDevices
    recovery: Recovery
    revoking: Revoking
    email_confirmation: EmailConfirmation
    answer_claims: AnswerClaims
    same_person: SamePerson

    @classmethod
    def build(cls, base: Base, scheduling: Scheduling, accounts: AccountsFeature) -> SigninFeature:
        db, secrets, log, limits = base.db, base.secrets, base.security_log, base.settings.accounts
        passwords, email_links, invitations = accounts.passwords, accounts.email_links, accounts.invitations
        social_login = SocialLogin(db, accounts.accounts, secrets, invitations)
        revoking, queue = Revoking(accounts.accounts, log), scheduling.queue
        party = RelyingParty.of(base.base_url, base.site.name, base.settings.http.allowed_origins)
        second_factors = SecondFactors(
            db,
            Totp(db, secrets, base.site.name),
            Passkeys(db, secrets, party),
            RecoveryCodes(db, secrets, email_links, log),
            base.attempts,
            email_links,
            limits.max_login_failures,
            log,
        )
        return cls(
            signing_in=SigningIn(db, passwords, base.attempts, limits, log),
            providers=Providers(db, build_providers(base.settings.signin, base.outgoing), base.base_url),
            social_login=social_login,
            second_factors=second_factors,
            api_tokens=ApiTokens(db, base.new_batcher, secrets, log),
            new_devices=NewDevices(db, email_links),
            recovery=Recovery(db, passwords, accounts.policy, email_links, revoking, base.attempts, queue, limits, log),
            revoking=revoking,
            email_confirmation=EmailConfirmation(
                db,
                accounts.accounts,
                social_login,
                passwords,
                email_links,
                base.attempts,
                base.settings,
                log,
                invitations,
            ),
            answer_claims=AnswerClaims(db, queue, base.notify),
            same_person=SamePerson(db, base.notify),
        )


async def _claim_answers(answer_claims: AnswerClaims, item: QueuedTask) -> dict[str, object]:
    user_id, volunteer = item.arguments["user_id"], item.arguments["volunteer"]
    return {"answers": await answer_claims.claim_all(user_id, volunteer, item.progress)}


# Assign the remaining answers of a browser to an account.
CLAIM_ANSWERS_HANDLER = Handler(
    CLAIM_ANSWERS_TASK,
    lambda house, item: _claim_answers(house[SigninFeature].answer_claims, item),
    title=_("Earlier answers for an account"),
    note=_("Answers from before the sign-up move to the account."),
)


async def _write_password_reset_mail(recovery: Recovery, item: QueuedTask) -> None:
    await recovery.write(item.arguments["user_id"], item.arguments.get("network", ""))


# Write the e-mail with a link to choose a new password, if the account has an address.
PASSWORD_RESET_MAIL_HANDLER = Handler(
    PASSWORD_RESET_MAIL_TASK,
    lambda house, item: _write_password_reset_mail(house[SigninFeature].recovery, item),
    title=_("E-mail to choose a new password"),
    note=_("The e-mail is being written."),
)


async def _settle_links(same_person: SamePerson) -> str:
    return f"{await same_person.settle()} answers set aside"


# Set aside second answers of people who had answered a task twice before it was known that they are one person.
SETTLE_LINKS_JOB = Job("settle_links", MINUTE, lambda house: _settle_links(house[SigninFeature].same_person))


async def _sweep_sessions(db: Database) -> str:
    return f"{await account_statements.delete_expired(db)} removed"


# Remove expired sessions, one-time links and login failures.
SWEEP_SESSIONS_JOB = Job("sweep_sessions", 10 * MINUTE, lambda house: _sweep_sessions(house.base.db))
