"""The pages and the API of community."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from crowdd.core.base import Base
from crowdd.features.accounts.feature import AccountsFeature
from crowdd.features.community.api import FavouritesApi
from crowdd.features.community.collection_pages import CollectionPages
from crowdd.features.community.feature import CommunityFeature
from crowdd.features.community.participation_pages import ParticipationPages
from crowdd.features.tasks.feature import TasksFeature
from crowdd.http.routing import View
from crowdd.http.web import FeatureWeb, Web


@attrs.frozen
class CommunityWeb(FeatureWeb):
    """Community in the browser and over REST."""

    web: Web
    base: Base
    accounts: AccountsFeature
    tasks: TasksFeature
    community: CommunityFeature

    def views(self) -> Iterator[View]:
        accounts = self.accounts.accounts
        yield FavouritesApi(self.community.favourites, self.tasks.contributions)
        yield ParticipationPages(accounts, self.community.participation, self.community.favourites, self.web.forms)
        yield CollectionPages(accounts, self.community.collections, self.web.forms, self.base.base_url)
