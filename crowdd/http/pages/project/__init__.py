"""Rooms of the pages below /project."""

from __future__ import annotations

from typing import Any

from crowdd.domain.domain import Domain
from crowdd.http.cookies import Cookies
from crowdd.http.forms import Forms
from crowdd.http.pages.project.changing import ChangePages
from crowdd.http.pages.project.exporting import ExportPages
from crowdd.http.pages.project.overview import OverviewPages
from crowdd.http.pages.project.password import PasswordPages
from crowdd.http.pages.project.presenting import PresentingPages
from crowdd.http.pages.project.publishing import PublishingPages
from crowdd.http.pages.project.statistics import ProjectStatisticsPages
from crowdd.http.pages.project.tasks import TaskPages
from crowdd.http.pages.project.views import ProjectViews
from crowdd.http.pages.project.webhooks import WebhookPages
from crowdd.http.pages.project.working import WorkPages
from crowdd.http.rendering import Templates


def rooms(domain: Domain, forms: Forms, cookies: Cookies, templates: Templates) -> list[Any]:
    """Everything about one project in the browser."""
    views = ProjectViews(domain)
    return [
        OverviewPages(domain, views),
        PublishingPages(domain, forms, views),
        PasswordPages(domain, forms, cookies),
        WebhookPages(domain, forms, views),
        PresentingPages(domain, views, templates),
        ProjectStatisticsPages(domain, views),
        TaskPages(domain, forms, views),
        ExportPages(domain, views),
        ChangePages(domain, forms, views),
        WorkPages(domain, forms, views),
    ]
