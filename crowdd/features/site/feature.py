"""The site: front page, texts, announcements, categories, dashboard and settings."""

from __future__ import annotations

import attrs

from crowdd.core.base import Base
from crowdd.core.feature import Feature
from crowdd.features.accounts.feature import AccountsFeature
from crowdd.features.site.administration import Administration, CategoryBehaviour
from crowdd.features.site.site_administration import SiteAdministration


@attrs.frozen
class SiteFeature(Feature):
    """What administrators set and see, and what everybody sees first."""

    administration: Administration
    site_administration: SiteAdministration

    @classmethod
    def build(cls, base: Base, accounts: AccountsFeature) -> SiteFeature:
        base.set_behaviours(CategoryBehaviour())
        return cls(
            administration=Administration(base.db, base.security_log),
            site_administration=SiteAdministration(
                base.db,
                base.site,
                base.notify,
                base.uploads,
                base.worker_thread,
                base.prose,
                base.mail,
                accounts.accounts,
            ),
        )
