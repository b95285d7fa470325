"""Groups of volunteers."""

from __future__ import annotations

import attrs

from crowdd.core.base import Base
from crowdd.core.feature import Feature
from crowdd.database.access import Database
from crowdd.features.groups import statements
from crowdd.features.groups.groups import Groups
from crowdd.features.groups.joining import Joining
from crowdd.features.groups.networks import Networks
from crowdd.sched.job import DAY, Job


@attrs.frozen
class GroupsFeature(Feature):
    """Who answers together."""

    groups: Groups
    joining: Joining
    networks: Networks

    @classmethod
    def build(cls, base: Base) -> GroupsFeature:
        db = base.db
        return cls(
            groups=Groups(db),
            joining=Joining(db, base.attempts, base.secrets),
            networks=Networks(db, base.new_batcher, base.secrets, base.shared.seconds),
        )


async def _sweep(db: Database) -> str:
    return f"{await statements.sweep(db)} groups deleted"


# Delete groups that ended a month ago, with the names of their members.
SWEEP_GROUPS_JOB = Job("sweep_groups", DAY, lambda house: _sweep(house.base.db))
