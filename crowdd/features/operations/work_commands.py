"""``crowdctl queue``, ``jobs`` and ``mail``: background tasks, periodic jobs and e-mails."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import attrs
import click
from twisted.internet.task import deferLater

from crowdd.admin_cli.groups import Group, gathered
from crowdd.admin_cli.output import console, details, json_option, listing, print_json, say, watching
from crowdd.admin_cli.runtime import presence, reactor, with_domain
from crowdd.core.feature import House
from crowdd.core.mail.returned import MAX_BYTES
from crowdd.core.mail.statements import WholeMail
from crowdd.features.projects.lookups import known
from crowdd.features.site.feature import SiteFeature
from crowdd.kernel.errors import CrowddError, NotFoundError
from crowdd.kernel.requester import SYSTEM
from crowdd.sched import statements as sched_statements
from crowdd.sched.feature import Scheduling
from crowdd.sched.job import Handler, Job, RunningTask
from crowdd.sched.job_runner import OVERVIEW, JobRunner, RunResult, every_job, overview
from crowdd.sched.queue import STATES, QueuedTask
from crowdd.sched.queue_worker import Worker, handlers
from crowdd.sched.rows import QueueFilter

_QUEUE_COLUMNS = (
    "id",
    "name",
    "state",
    "project_id",
    "user_name",
    "done",
    "total",
    "rate",
    "eta",
    "attempt",
    "due",
    "error",
)
_ENDED = ("done", "dead", "cancelled")
_LOOK_SECONDS = 0.5
_MAIL_LOOKS = 120


@click.group(cls=Group)
def queue() -> None:
    """Manage background tasks: waiting, running and ended.

    ID is the number of a background task in the list.
    """


@attrs.frozen
class _Chosen:
    state: str | None
    name: str | None
    project_id: int | None
    before: int | None
    limit: int


@queue.command("list")
@click.option("--state", type=click.Choice(STATES), help="Only background tasks in this state.")
@click.option("--name", help="Only background tasks of this type.")
@click.option("--project", "project_id", type=int, help="Only background tasks of the project with this id.")
@click.option("--before", type=int, metavar="ID", help="Only background tasks before this one (for the next page).")
@click.option("--limit", default=50, show_default=True, help="Maximum number of background tasks.")
@json_option
@click.pass_obj
@gathered("chosen", _Chosen)
def list_queue(config: Path | None, chosen: _Chosen, as_json: bool) -> None:
    """List background tasks, newest first."""
    wanted = QueueFilter(everybodys=True, **attrs.asdict(chosen))
    rows = with_domain(config, lambda house: house[Scheduling].queue.list_whole(SYSTEM, wanted))
    listing(as_json, rows, _QUEUE_COLUMNS)


@queue.command("show")
@click.argument("item_id", metavar="ID", type=int)
@click.option("--wait", is_flag=True, help="Wait until it has ended. Ctrl-C stops waiting, not the task.")
@json_option
@click.pass_context
def show_task(ctx: click.Context, item_id: int, wait: bool, as_json: bool) -> None:
    """Show one background task. With --wait, exits with 1 if it failed or was cancelled."""
    with watching(f"Item {item_id}", quiet=as_json) as report_progress:
        item = with_domain(ctx.obj, lambda house: _seen(house, item_id, wait, report_progress))
    details(as_json, item)
    ctx.exit(int(wait and item["state"] != "done"))


@queue.command()
@click.argument("item_id", metavar="ID", type=int)
@json_option
@click.pass_obj
def cancel(config: Path | None, item_id: int, as_json: bool) -> None:
    """Cancel a background task: at once if it waits, at its next step if it runs."""
    item = with_domain(config, lambda house: _changed(house, "cancel", item_id))
    asked = item["state"] == "running"
    say(as_json, item, f"{item['name']} {item_id} {'will stop at its next step' if asked else 'is cancelled'}.")


@queue.command()
@click.argument("item_id", metavar="ID", type=int)
@json_option
@click.pass_obj
def retry(config: Path | None, item_id: int, as_json: bool) -> None:
    """Retry a background task that failed or was cancelled, from where it stopped."""
    item = with_domain(config, lambda house: _changed(house, "retry", item_id))
    say(as_json, item, f"{item['name']} {item_id} is waiting to run.")


@queue.command("discard")
@click.argument("item_ids", metavar="ID", type=int, nargs=-1, required=True)
@json_option
@click.pass_obj
def discard_tasks(config: Path | None, item_ids: tuple[int, ...], as_json: bool) -> None:
    """Count failed background tasks as cancelled, so that crowdctl doctor no longer reports them."""

    async def each(house: House) -> list[dict[str, object]]:
        return [await _changed(house, "discard", item_id) for item_id in item_ids]

    with_domain(config, each)
    say(as_json, {"discarded": item_ids}, f"{len(item_ids)} background tasks are discarded.")


@queue.command()
@json_option
@click.pass_obj
def work(config: Path | None, as_json: bool) -> None:
    """Run due background tasks now, with or without a running server.

    Ctrl-C stops it. Unfinished tasks resume within two minutes from where they stopped.
    """
    count = with_domain(config, _work, connections=3)
    say(as_json, {"items": count}, f"{count} background tasks were run." if count else "Nothing is due.")


async def _seen(house: House, item_id: int, wait: bool, report_progress: Callable[[int], None]) -> dict[str, object]:
    item = await known(house[Scheduling].queue.get(SYSTEM, item_id, whole=True), f"Background task {item_id}")
    while wait and item["state"] not in _ENDED:
        report_progress(item["done"])
        await deferLater(reactor, _LOOK_SECONDS)
        item = await house[Scheduling].queue.get(SYSTEM, item_id, whole=True)
    return item


async def _changed(house: House, action: str, item_id: int) -> dict[str, object]:
    queue = house[Scheduling].queue
    changes = {"cancel": queue.cancel, "retry": queue.retry, "discard": queue.discard}
    item = await known(changes[action](SYSTEM, item_id), f"Background task {item_id}")
    await house[SiteFeature].administration.note(action, "queue", item_id, SYSTEM)
    return item


async def _work(house: House) -> int:
    def start(handler: Handler, task: QueuedTask) -> RunningTask:
        return handler.run(house, task)

    count = 0
    async with presence(house.base.settings) as session:
        worker = Worker(
            reactor, handlers(), house.base.db, house[Scheduling].queue, house.base.mail, start, size=1, session=session
        )
        while begun := await worker.take():
            for settled in begun:
                await settled
                count += 1
    return count


_LOG = ("began", "seconds", "outcome", "words")
_WORDS = {
    "busy": "{name} runs in another process just now.",
    "broken": "The process of the last run of {name} ended before the job did. This is now recorded. Run it again.",
}


@click.group(cls=Group)
def jobs() -> None:
    """Manage periodic jobs."""


@jobs.command("list")
@json_option
@click.pass_obj
def list_jobs(config: Path | None, as_json: bool) -> None:
    """List the periodic jobs with the result of the last run and the time of the next."""
    listing(as_json, with_domain(config, lambda house: overview(house.base.db, house.base.settings)), OVERVIEW)


@jobs.command("show")
@click.argument("name")
@click.option("--limit", default=20, show_default=True, help="Maximum number of runs.")
@json_option
@click.pass_obj
def show_job(config: Path | None, name: str, limit: int, as_json: bool) -> None:
    """List the logged runs of the job NAME, newest first.

    For jobs that run more often than once a minute, only failed runs are logged.
    """
    _find(name)
    listing(as_json, with_domain(config, lambda house: sched_statements.list_runs(house.base.db, name, limit)), _LOG)


@jobs.command()
@click.argument("name")
@json_option
@click.pass_obj
def run(config: Path | None, name: str, as_json: bool) -> None:
    """Run the job NAME now, even if it is not due. Refused while the server runs it."""
    job = _find(name)
    result = with_domain(config, lambda house: _run_now(house, job))
    done: dict[str, object] = {"name": name, "outcome": result.state, "seconds": result.seconds, "words": result.words}
    message = _WORDS.get(result.state, "{name} {outcome}: {words}").format(**done)
    say(as_json, done, message)
    if result.state != "done":
        sys.exit(1)


async def _run_now(house: House, job: Job) -> RunResult:
    # A command has one connection. Its session holds the lock while the job runs in it.
    return await JobRunner(reactor, house.base.db, [job], lambda job: job.work(house)).run(job, force=True)


def _find(name: str) -> Job:
    for job in every_job():
        if job.name == name:
            return job
    raise NotFoundError(f"Unknown job {name}.", hint="To list the jobs: crowdctl jobs list")


_MAIL_COLUMNS = ("id", "created", "state", "recipient", "template", "subject", "attempts", "due", "error")
_STATES = ("waiting", "held", "sent", "dead")


@click.group(cls=Group)
def mail() -> None:
    """Manage e-mails: waiting, sent, and held while mail is off ([mail] host).

    ID is the number of an e-mail in the list.
    """


@mail.command("list")
@click.option("--state", type=click.Choice(_STATES), help="Only e-mails in this state.")
@click.option("--limit", default=50, show_default=True, help="Maximum number of rows.")
@json_option
@click.pass_obj
def list_mails(config: Path | None, state: str | None, limit: int, as_json: bool) -> None:
    """List the latest e-mails, newest first."""
    listing(
        as_json,
        [attrs.asdict(row) for row in with_domain(config, lambda house: house.base.mail.list(limit, state))],
        _MAIL_COLUMNS,
    )


@mail.command("show")
@click.argument("mail_id", metavar="ID", type=int)
@json_option
@click.pass_obj
def show_mail(config: Path | None, mail_id: int, as_json: bool) -> None:
    """Show one e-mail with its links. The text is deleted after sending."""
    row = with_domain(config, lambda house: known(house.base.mail.get(mail_id), f"E-mail {mail_id}"))
    if as_json:
        print_json(attrs.asdict(row))
        return
    text = row.text or "(sent, and its text was deleted)"
    head = f"To: {row.recipient}\nSubject: {row.subject}\nState: {row.state} {row.error}"
    console().print(plain_text(f"{head}\n\n{text}"))


@mail.command()
@click.argument("mail_id", metavar="ID", type=int)
@json_option
@click.pass_obj
def send(config: Path | None, mail_id: int, as_json: bool) -> None:
    """Deliver an e-mail that is held or failed."""
    row = with_domain(config, lambda house: _again(house, mail_id))
    say(as_json, {"id": row.id, "state": row.state}, f"E-mail {mail_id} is waiting to be sent.")


@mail.command("discard")
@click.argument("mail_ids", metavar="ID", type=int, nargs=-1, required=True)
@json_option
@click.pass_obj
def discard_mails(config: Path | None, mail_ids: tuple[int, ...], as_json: bool) -> None:
    """Delete e-mails that failed or are held.

    crowdctl doctor no longer reports them, and an address from which they came back gets e-mails again.
    """

    async def each(house: House) -> None:
        for mail_id in mail_ids:
            await known(house.base.mail.discard(mail_id), f"E-mail {mail_id}")
            await house[SiteFeature].administration.note("discard", "mail", mail_id, SYSTEM)

    with_domain(config, each)
    say(as_json, {"discarded": mail_ids}, f"{len(mail_ids)} e-mails are deleted.")


@mail.command()
@click.argument("address")
@click.option("--locale", default="en", show_default=True, help="Language.")
@json_option
@click.pass_context
def test(ctx: click.Context, address: str, locale: str, as_json: bool) -> None:
    """Send a test e-mail to ADDRESS, and say what the mail server said.

    Exits with 1 if the mail server did not accept it within a minute.
    """
    row = with_domain(ctx.obj, lambda house: _test(house, address, locale))
    words = {
        "sent": "was accepted by the mail server",
        "held": "is held, because mail is off: set [mail] host and sender",
        "dead": f"was refused: {row.error}",
    }
    end = words.get(row.state, f"was not accepted yet: {row.error or 'no server sends it'}")
    value = {"id": row.id, "state": row.state, "error": row.error}
    say(as_json, value, f"E-mail {row.id} to {row.recipient} {end}.")
    ctx.exit(int(row.state != "sent"))


@mail.command("returned")
@click.argument("report", type=click.File("rb"), default="-")
@json_option
@click.pass_obj
def returned(config: Path | None, report: BinaryIO, as_json: bool) -> None:
    """Read the report of a mail server on an e-mail that could not be delivered, from REPORT or standard input.

    Where there is no such mailbox, the address gets no more e-mails for some time. What is no report, or about no
    e-mail of this site, changes nothing.
    """
    content = report.read(MAX_BYTES)
    row = with_domain(config, lambda house: house.base.mail.note_return(content))
    words = f"E-mail {row.id} came back: {row.error}" if row else "This is no report on an e-mail of this site."
    say(as_json, {"id": row and row.id, "returned": row and row.returned, "error": row and row.error}, words)


async def _again(house: House, mail_id: int) -> WholeMail:
    row = await known(house.base.mail.again(mail_id), f"E-mail {mail_id}")
    await house[SiteFeature].administration.note("send_again", "mail", mail_id, SYSTEM)
    return row


async def _test(house: House, address: str, locale: str) -> WholeMail:
    """The e-mail after the first attempt to send it, by this command or by a running server."""
    mail_id = await house.base.mail.send(house.base.db, address, "test", {}, locale)
    if mail_id is None:
        raise CrowddError(f"Too many e-mails were sent to {address} within an hour. Try again later.")
    for _ in range(_MAIL_LOOKS):
        row = await house.base.mail.get(mail_id)
        if row.state != "waiting" or row.error:
            break
        if (await _run_now(house, _find("send_mail"))).state == "busy":
            await deferLater(reactor, _LOOK_SECONDS)
    return await house.base.mail.get(mail_id)


def plain_text(text: str) -> str:
    """The text without what steers a terminal."""
    return "".join(each if each.isprintable() or each == "\n" else "\N{REPLACEMENT CHARACTER}" for each in text)
