"""Rooms of the pages below /project."""

from __future__ import annotations

from typing import Any

from crowdd.domain.domain import Domain
from crowdd.http.confirm import Confirm
from crowdd.http.cookies import Cookies
from crowdd.http.forms import Forms
from crowdd.http.pages.project.auditing import ProjectAuditPages
from crowdd.http.pages.project.blog import BlogPages
from crowdd.http.pages.project.changing import ChangePages
from crowdd.http.pages.project.creating import NewProjectPages
from crowdd.http.pages.project.deleting import DeletingPages
from crowdd.http.pages.project.editing import EditorPages
from crowdd.http.pages.project.exporting import ExportPages
from crowdd.http.pages.project.importing import ImportPages
from crowdd.http.pages.project.overview import OverviewPages
from crowdd.http.pages.project.owners import OwnersPages
from crowdd.http.pages.project.password import PasswordPages
from crowdd.http.pages.project.pictures import PicturePages
from crowdd.http.pages.project.presenting import PresentingPages
from crowdd.http.pages.project.publishing import PublishingPages
from crowdd.http.pages.project.settings import ProjectSettingsPages
from crowdd.http.pages.project.shelves import ShelfPages
from crowdd.http.pages.project.statistics import ProjectStatisticsPages
from crowdd.http.pages.project.tasks import TaskPages
from crowdd.http.pages.project.updating import UpdatePages
from crowdd.http.pages.project.views import ProjectViews
from crowdd.http.pages.project.volunteers import VolunteerPages
from crowdd.http.pages.project.webhooks import WebhookPages
from crowdd.http.pages.project.working import WorkPages
from crowdd.http.rendering import Templates


def rooms(domain: Domain, forms: Forms, cookies: Cookies, templates: Templates) -> list[Any]:
    """Where projects are found and made, and everything about one of them in the browser."""
    views = ProjectViews(domain)
    return [
        OverviewPages(domain, views, cookies),
        PublishingPages(domain, forms, views),
        PasswordPages(domain, forms, cookies),
        WebhookPages(domain, forms, views),
        PresentingPages(domain, Confirm(forms.csrf), views, templates),
        ProjectStatisticsPages(domain, views),
        TaskPages(domain, forms, views),
        ExportPages(domain, views),
        ImportPages(domain, forms, views),
        ChangePages(domain, forms, views),
        WorkPages(domain, forms, views),
        ShelfPages(domain),
        NewProjectPages(domain, forms),
        ProjectSettingsPages(domain, forms, views),
        VolunteerPages(domain, forms, views),
        UpdatePages(domain, forms, views),
        PicturePages(domain, forms, views),
        EditorPages(domain, forms, views, templates),
        OwnersPages(domain, forms, views),
        BlogPages(domain, forms, views),
        DeletingPages(domain, forms, views),
        ProjectAuditPages(domain, views),
    ]
