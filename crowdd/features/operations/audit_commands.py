"""``crowdctl audit``: who changed what, and the security log."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import attrs
import click

from crowdd.admin_cli.groups import gathered
from crowdd.admin_cli.output import json_option, listing
from crowdd.admin_cli.runtime import with_domain
from crowdd.core.log_statements import ActFilter
from crowdd.core.records.statements import Keyset
from crowdd.core.rows import AuditEntry, SecurityEntry
from crowdd.core.security_log import KINDS
from crowdd.features.site.feature import SiteFeature
from crowdd.kernel.requester import SYSTEM

_ACTS = (
    "id", "at", "user_name", "via", "action", "kind", "object_id", "project_id", "attribute", "before", "after",
    "network", "request_id",
)  # fmt: skip
_SECURITY = (
    "id", "at", "last_at", "count", "kind", "user_id", "user_name", "actor_name", "tried", "network", "request_id",
    "agent", "detail",
)  # fmt: skip
_UNITS = {"m": "minutes", "h": "hours", "d": "days"}


def _time(_ctx: click.Context, _option: click.Parameter, text: str | None) -> datetime | None:
    """A time as ISO 8601 (UTC unless it says otherwise), or an age: 30m, 12h, 7d."""
    if text is None:
        return None
    age = re.fullmatch(r"(\d{1,6})([mhd])", text)
    if age:
        return datetime.now(UTC) - timedelta(**{_UNITS[age[2]]: int(age[1])})
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a time such as 2026-05-01T12:00 or an age such as 7d.") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


@attrs.frozen
class _Wanted:
    """The options that choose entries."""

    account: str | None
    kinds: tuple[str, ...]
    since: datetime | None
    before: int | None
    limit: int

    @property
    def place(self) -> Keyset:
        return Keyset(self.limit, before=self.before)


@click.command()
@click.option("--security", is_flag=True, help="Show the security log: sign-ins, refusals, changes of accounts.")
@click.option("--account", help="Only this account; with --security also an address that was tried.")
@click.option("--kind", "kinds", multiple=True, help="Only this kind; with --security it may be given several times.")
@click.option("--since", callback=_time, help="Only since this time (2026-05-01T12:00) or age (30m, 12h, 7d).")
@click.option("--before", type=int, metavar="ID", help="Only entries before this one (for the next page).")
@click.option(
    "--limit", type=click.IntRange(1, 10_000), default=50, show_default=True, help="Maximum number of entries."
)
@json_option
@click.pass_obj
@gathered("wanted", _Wanted)
def audit(config: Path | None, security: bool, wanted: _Wanted, as_json: bool) -> None:
    """Show the audit log, or with --security the security log, the newest entries first."""
    if security:
        listing(as_json, _security(config, wanted), _SECURITY)
    else:
        listing(as_json, _acts(config, wanted), _ACTS)


def _security(config: Path | None, wanted: _Wanted) -> list[SecurityEntry]:
    unknown = [kind for kind in wanted.kinds if kind not in KINDS]
    if unknown:
        raise click.BadParameter(f"{unknown[0]!r} is not one of {', '.join(sorted(KINDS))}.", param_hint="--kind")
    return with_domain(
        config,
        lambda house: house[SiteFeature].administration.security(
            SYSTEM, wanted.account or "", wanted.place, kinds=wanted.kinds, since=wanted.since
        ),
    ).rows


def _acts(config: Path | None, wanted: _Wanted) -> list[AuditEntry]:
    if len(wanted.kinds) > 1:
        raise click.UsageError("Without --security, --kind may be given once.")
    kind = wanted.kinds[0] if wanted.kinds else None
    return with_domain(
        config,
        lambda house: house[SiteFeature].administration.acts(
            SYSTEM, wanted.place, ActFilter(wanted.account, kind, since=wanted.since)
        ),
    ).rows
