"""The pages of groups."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from crowdd.core.base import Base
from crowdd.features.accounts.feature import AccountsFeature
from crowdd.features.groups.feature import GroupsFeature
from crowdd.features.groups.joining_pages import JoinPages
from crowdd.features.groups.pages import GroupPages
from crowdd.http.routing import View
from crowdd.http.web import FeatureWeb, Web


@attrs.frozen
class GroupsWeb(FeatureWeb):
    """Groups in the browser."""

    web: Web
    base: Base
    accounts: AccountsFeature
    groups: GroupsFeature

    def views(self) -> Iterator[View]:
        yield GroupPages(self.accounts.accounts, self.groups.groups, self.web.forms, self.base.base_url)
        yield JoinPages(self.groups.joining, self.web.volunteers, self.web.forms)
