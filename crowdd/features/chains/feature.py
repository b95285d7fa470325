"""Chains of projects."""

from __future__ import annotations

import attrs

from crowdd.core.base import Base
from crowdd.core.feature import Feature
from crowdd.features.chains.chains import Chains
from crowdd.features.chains.following import Following
from crowdd.features.projects.feature import ProjectsFeature
from crowdd.sched.job import MINUTE, Job


@attrs.frozen
class ChainsFeature(Feature):
    """Which project is the next step of which, and what makes its tasks."""

    chains: Chains
    following: Following

    @classmethod
    def build(cls, base: Base, projects: ProjectsFeature) -> ChainsFeature:
        return cls(
            chains=Chains(base.db, base.notify),
            following=Following(base.db, base.notify, base.quota),
        )


async def _follow(following: Following) -> str:
    return f"{await following.run()} tasks"


# Make the tasks of the next step of what was completed, and have them follow corrections.
FOLLOW_CHAINS_JOB = Job("follow_chains", MINUTE, lambda house: _follow(house[ChainsFeature].following), pause=1)
