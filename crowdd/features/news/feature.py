"""News in the site and by e-mail, and the home page of a volunteer."""

from __future__ import annotations

import attrs

from crowdd.core.base import Base
from crowdd.core.feature import Feature
from crowdd.database.access import Database
from crowdd.features.community.feature import CommunityFeature
from crowdd.features.news import statements
from crowdd.features.news.digest import Digest
from crowdd.features.news.letters import OwnerLetters
from crowdd.features.news.news import News
from crowdd.features.news.own_home import OwnHomes
from crowdd.sched.job import DAY, MINUTE, Job


@attrs.frozen
class NewsFeature(Feature):
    """What those who come back are told."""

    news: News
    digest: Digest
    letters: OwnerLetters
    own_homes: OwnHomes

    @classmethod
    def build(cls, base: Base, community: CommunityFeature) -> NewsFeature:
        news = News(base.db)
        return cls(
            news=news,
            digest=Digest(base.db, base.mail, base.secrets, base.base_url.rstrip("/")),
            letters=OwnerLetters(base.db, base.records),
            own_homes=OwnHomes(base.db, community.participation, news),
        )


async def _send(digest: Digest) -> str:
    return f"{await digest.send_due()} people looked at"


# Write the weekly e-mails that are due, on servers that send e-mail.
SEND_NEWS_JOB = Job(
    "send_news",
    5 * MINUTE,
    lambda house: _send(house[NewsFeature].digest),
    lambda settings: 5 * MINUTE if settings.mail.host else None,
)


async def _sweep(db: Database) -> str:
    return f"{await statements.sweep(db)} removed"


# Remove news that are no longer shown.
SWEEP_NEWS_JOB = Job("sweep_news", DAY, lambda house: _sweep(house.base.db))
