"""The pages and the API of people."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import attrs

from crowdd.core.base import Base
from crowdd.features.accounts.feature import AccountsFeature
from crowdd.features.people.admin_pages import AdminInvitations, AdminUsers
from crowdd.features.people.api import CommentingSso
from crowdd.features.people.feature import PeopleFeature
from crowdd.features.people.leaving_pages import LeavingPages
from crowdd.features.people.profile_pages import CommunityPages, ProfilePages
from crowdd.features.people.settings_pages import NewsletterPages, Preferences, SettingsForms, SettingsPages
from crowdd.features.projects.feature import ProjectsFeature
from crowdd.features.signin.feature import SigninFeature
from crowdd.features.signin.web import SigninWeb
from crowdd.features.site.feature import SiteFeature
from crowdd.features.statistics.feature import StatisticsFeature
from crowdd.http.routing import View
from crowdd.http.web import FeatureWeb, Web


@attrs.frozen
class PeopleWeb(FeatureWeb):
    """People in the browser and over REST."""

    web: Web
    base: Base
    accounts: AccountsFeature
    signin: SigninFeature
    projects: ProjectsFeature
    statistics: StatisticsFeature
    site: SiteFeature
    people: PeopleFeature
    signin_pages: SigninWeb

    def views(self) -> Iterator[View]:
        base, accounts, signin, forms = self.base, self.accounts.accounts, self.signin, self.web.forms
        languages, entry, personal_data = base.languages, self.signin_pages.entry, self.people.personal_data
        settings_forms = SettingsForms(self.people.profiles, self.people.avatars, languages, entry)
        usage, invitations = partial(base.quota.usage, base.db), self.accounts.invitations
        yield CommentingSso(base.settings.commenting, accounts, self.web.now)
        yield Preferences(base.records, languages, self.web.cookies, self.web.csrf)
        yield ProfilePages(accounts, self.projects.projects, signin.email_confirmation, forms)
        yield SettingsPages(accounts, usage, languages, signin.providers, forms, settings_forms)
        yield NewsletterPages(self.people.profiles, forms)
        yield LeavingPages(accounts, personal_data, self.people.account_deletion, signin.signing_in, forms, entry)
        yield CommunityPages(accounts, self.people.user_list, self.statistics.statistics)
        yield AdminUsers(self.site.administration, accounts, forms)
        yield AdminInvitations(invitations, base.base_url, forms)
