"""``crowdctl webhook``: webhooks of projects. The running server sends deliveries; commands choose them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import attrs
import click

from crowdd.admin_cli.groups import Group, gathered
from crowdd.admin_cli.output import json_option, listing, print_json, say
from crowdd.admin_cli.runtime import with_domain
from crowdd.core.feature import House
from crowdd.features.projects.feature import ProjectsFeature
from crowdd.features.projects.lookups import known
from crowdd.features.projects.lookups import project as named
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.webhooks.feature import WebhooksFeature
from crowdd.features.webhooks.webhooks import MAX_LISTED, STATES
from crowdd.kernel.requester import SYSTEM
from crowdd.kernel.values import Values

_LIST = ("short_name", "state", "n_waiting", "n_failed", "n_missed", "last_delivered", "url")
_SHORT = ("id", "sequence", "event", "task_id", "state", "attempts")
_LOG = (*_SHORT, "response_status_code", "seconds", "updated", "problem")
_ATTEMPT = ("at", "status", "seconds", "problem", "url")
T = TypeVar("T")
Work = Callable[[House, ProjectPage], Awaitable[T]]


@click.group(cls=Group)
def webhook() -> None:
    """Manage webhooks and resend deliveries. The running server sends them.

    PROJECT is an id or a short name.
    """


def _of_project(config: Path | None, which: str, work: Work[T]) -> T:
    """What the work returns, done with a project as its owners would."""

    async def with_project(house: House) -> T:
        return await work(house, await named(house[ProjectsFeature].projects, house.base.records, which))

    return with_domain(config, with_project)


@webhook.command("list")
@json_option
@click.pass_obj
def list_webhooks(config: Path | None, as_json: bool) -> None:
    """List the webhooks of all projects, failing ones first."""
    listing(as_json, with_domain(config, lambda house: house[WebhooksFeature].webhooks.all_states()), _LIST)


@webhook.command()
@click.argument("project")
@click.argument("delivery", type=int, required=False)
@click.option("--state", type=click.Choice(STATES), help="Only deliveries in this state.")
@click.option(
    "--limit", type=click.IntRange(1, MAX_LISTED), default=20, show_default=True, help="Maximum number, newest first."
)
@json_option
@click.pass_obj
def show(config: Path | None, project: str, delivery: int | None, state: str | None, limit: int, as_json: bool) -> None:
    """Show the webhook of PROJECT with its newest deliveries, or one DELIVERY with all its attempts."""
    if delivery is not None:
        _show_delivery(config, project, delivery, as_json)
        return

    async def work(house: House, row: ProjectPage) -> tuple[Values, list[Values]]:
        log = await house[WebhooksFeature].webhooks.log(row, SYSTEM, limit, only=state)
        return await house[WebhooksFeature].webhooks.state(row, SYSTEM), log

    webhook_state, log = _of_project(config, project, work)
    if as_json:
        print_json({**webhook_state, "deliveries": log})
        return
    click.echo(_words(webhook_state))
    listing(False, log, _LOG)


def _show_delivery(config: Path | None, project: str, delivery: int, as_json: bool) -> None:
    async def work(house: House, row: ProjectPage) -> Values:
        what = f"Delivery {delivery} of {row['short_name']}"
        return await known(house[WebhooksFeature].webhooks.delivery(row, SYSTEM, delivery), what)

    delivery_details = _of_project(config, project, work)
    if as_json:
        print_json(delivery_details)
        return
    listing(False, [delivery_details], _SHORT)
    listing(False, delivery_details["attempts_made"], _ATTEMPT)
    for attempt in delivery_details["attempts_made"][-1:]:
        click.echo(f"\n{attempt['body']}\n\n{attempt['answer']}")


def _words(webhook_state: dict[str, Any]) -> str:
    if webhook_state["url"] is None:
        return f"{webhook_state['short_name']} has no webhook."
    state = {"on": "works", "failing": "fails", "off": "is switched off"}[webhook_state["state"]]
    why = f" ({webhook_state['why_off']})" if webhook_state["why_off"] else ""
    counts = f"{webhook_state['n_waiting']} waiting, {webhook_state['n_failed']} failed"
    return f"{webhook_state['url']} {state}{why}; {counts}."


@webhook.command()
@click.argument("project")
@json_option
@click.pass_obj
def test(config: Path | None, project: str, as_json: bool) -> None:
    """Send a test event to the webhook of PROJECT."""
    delivery = _of_project(config, project, lambda house, row: house[WebhooksFeature].webhooks.ping(row, SYSTEM))
    message = f"The server sends it now. To see the outcome: crowdctl webhook show {project} {delivery}"
    say(as_json, {"delivery": delivery}, message)


@attrs.frozen
class _Chosen:
    """Deliveries: one, the events from one sequence to another, or all that failed."""

    delivery: int | None
    first: int | None
    last: int | None
    failed: bool


@webhook.command()
@click.argument("project")
@click.option("--delivery", type=int, help="Delivery with this number in the log.")
@click.option("--from", "first", type=click.IntRange(1), help="Events from this sequence on.")
@click.option("--to", "last", type=click.IntRange(1), help="Events up to this sequence (default: the newest).")
@click.option("--failed", is_flag=True, help="All failed deliveries.")
@json_option
@click.pass_obj
@gathered("chosen", _Chosen)
def redeliver(config: Path | None, project: str, chosen: _Chosen, as_json: bool) -> None:
    """Resend deliveries of PROJECT: one, a range of events, or all failed ones."""
    if (chosen.delivery is not None) + (chosen.first is not None) + chosen.failed != 1:
        raise click.UsageError("Choose deliveries: --delivery, --from (and --to), or --failed.")

    async def work(house: House, row: ProjectPage) -> int:
        if chosen.first is not None:
            return await house[WebhooksFeature].webhooks.replay(row, SYSTEM, chosen.first, chosen.last)
        if chosen.failed:
            return await house[WebhooksFeature].webhooks.all_failed_again(row, SYSTEM)
        what = f"Delivery {chosen.delivery} of {row['short_name']}"
        await known(house[WebhooksFeature].webhooks.again(row, SYSTEM, chosen.delivery or 0), what)
        return 1

    count = _of_project(config, project, work)
    say(as_json, {"deliveries": count}, f"{count} deliveries will be sent again.")


@webhook.command()
@click.argument("project")
@json_option
@click.pass_obj
def backfill(config: Path | None, project: str, as_json: bool) -> None:
    """Send the events of PROJECT from the time without a webhook."""
    count = _of_project(config, project, lambda house, row: house[WebhooksFeature].webhooks.backfill(row, SYSTEM))
    say(as_json, {"events": count}, f"{count} events are sent." if count else "There is nothing to send.")


@webhook.command("on")
@click.argument("project")
@json_option
@click.pass_obj
def on(config: Path | None, project: str, as_json: bool) -> None:
    """Switch the webhook of PROJECT on again."""
    _of_project(config, project, lambda house, row: house[WebhooksFeature].webhooks.switch_on(row, SYSTEM))
    say(as_json, {"state": "on"}, "The webhook is on. Waiting events are being sent.")
