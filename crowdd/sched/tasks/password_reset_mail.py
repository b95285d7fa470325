"""Write the e-mail with a link to choose a new password, if the account has an address."""

from __future__ import annotations

from crowdd.domain.accounts.authentication.password_reset import HANDLER as PASSWORD_RESET_MAIL_TASK
from crowdd.domain.accounts.authentication.password_reset import Recovery
from crowdd.domain.core.background_queue import QueuedTask
from crowdd.languages import _
from crowdd.sched.handler import Handler


async def _run(recovery: Recovery, item: QueuedTask) -> None:
    await recovery.write(item.arguments["user_id"], item.arguments.get("network", ""))


HANDLER = Handler(
    PASSWORD_RESET_MAIL_TASK,
    lambda services, item: _run(services.people.recovery, item),
    title=_("E-mail to choose a new password"),
    note=_("The e-mail is being written."),
)
