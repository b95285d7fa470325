"""The pages and the API of site."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from crowdd.core.base import Base
from crowdd.features.accounts.feature import AccountsFeature
from crowdd.features.news.feature import NewsFeature
from crowdd.features.projects.feature import ProjectsFeature
from crowdd.features.projects.web import ProjectsWeb
from crowdd.features.results.feature import ResultsFeature
from crowdd.features.site.admin_pages import AdminDashboard, AdminLogs
from crowdd.features.site.announcement_pages import AdminAnnouncements, Announcements
from crowdd.features.site.catalogue_pages import AdminCategories, AdminFeatured, AdminProjects
from crowdd.features.site.feature import SiteFeature
from crowdd.features.site.front import Front
from crowdd.features.site.front_pages import AboutPages, HomePages, SecurityTxt
from crowdd.features.site.site_pages import AdminSite, SiteMap, SiteStyle
from crowdd.features.statistics.feature import StatisticsFeature
from crowdd.http.routing import View
from crowdd.http.web import FeatureWeb, Web


@attrs.frozen
class SiteWeb(FeatureWeb):
    """Site in the browser and over REST."""

    web: Web
    base: Base
    accounts: AccountsFeature
    projects: ProjectsFeature
    results: ResultsFeature
    statistics: StatisticsFeature
    news: NewsFeature
    site: SiteFeature
    project_pages: ProjectsWeb

    def views(self) -> Iterator[View]:
        base, forms, administration = self.base, self.web.forms, self.site.administration
        records, site, statistics, settings = base.records, base.site, self.statistics.statistics, base.settings.site
        projects, finished_tasks = self.projects.projects, self.results.finished_tasks
        front = Front(base.db, self.news.own_homes, projects, finished_tasks, statistics)
        yield HomePages(projects, self.accounts.accounts, site, front)
        yield AboutPages(settings, site, base.prose)
        yield SiteStyle(site)
        yield SiteMap(base.settings.map_path)
        yield SecurityTxt(settings.security_contact, base.base_url, self.web.now)
        yield Announcements(records, base.prose)
        yield AdminProjects(administration)
        yield AdminCategories(administration, records, forms)
        yield AdminFeatured(administration, records, forms)
        yield AdminAnnouncements(records, forms, self.project_pages.left_out)
        yield AdminDashboard(administration, statistics)
        yield AdminLogs(administration)
        yield AdminSite(self.site.site_administration, site, forms)
