"""The background tasks and jobs of sign-in: claim answers, mail password resets, settle links, remove old sessions."""

from __future__ import annotations

from crowdd.database.access import Database
from crowdd.features.accounts import statements as account_statements
from crowdd.features.signin.answer_claims import HANDLER as CLAIM_ANSWERS_TASK
from crowdd.features.signin.answer_claims import AnswerClaims
from crowdd.features.signin.password_reset import HANDLER as PASSWORD_RESET_MAIL_TASK
from crowdd.features.signin.password_reset import Recovery
from crowdd.features.signin.same_person import SamePerson
from crowdd.kernel.languages import _
from crowdd.sched.job import MINUTE, Handler, Job
from crowdd.sched.queue import QueuedTask


async def _claim_answers(answer_claims: AnswerClaims, item: QueuedTask) -> dict[str, object]:
    user_id, volunteer = item.arguments["user_id"], item.arguments["volunteer"]
    return {"answers": await answer_claims.claim_all(user_id, volunteer, item.progress)}


# Assign the remaining answers of a browser to an account.
CLAIM_ANSWERS_HANDLER = Handler(
    CLAIM_ANSWERS_TASK,
    lambda services, item: _claim_answers(services.people.answer_claims, item),
    title=_("Earlier answers for an account"),
    note=_("Answers from before the sign-up move to the account."),
)


async def _write_password_reset_mail(recovery: Recovery, item: QueuedTask) -> None:
    await recovery.write(item.arguments["user_id"], item.arguments.get("network", ""))


# Write the e-mail with a link to choose a new password, if the account has an address.
PASSWORD_RESET_MAIL_HANDLER = Handler(
    PASSWORD_RESET_MAIL_TASK,
    lambda services, item: _write_password_reset_mail(services.people.recovery, item),
    title=_("E-mail to choose a new password"),
    note=_("The e-mail is being written."),
)


async def _settle_links(same_person: SamePerson) -> str:
    return f"{await same_person.settle()} answers set aside"


# Set aside second answers of people who had answered a task twice before it was known that they are one person.
SETTLE_LINKS_JOB = Job("settle_links", MINUTE, lambda services: _settle_links(services.people.same_person))


async def _sweep_sessions(db: Database) -> str:
    return f"{await account_statements.delete_expired(db)} removed"


# Remove expired sessions, one-time links and login failures.
SWEEP_SESSIONS_JOB = Job("sweep_sessions", 10 * MINUTE, lambda services: _sweep_sessions(services.db))
