"""Rooms of the pages below /project."""

from __future__ import annotations

from typing import Any

from crowdd.domain.server.services import Services
from crowdd.http.auth.confirmation import Confirm
from crowdd.http.auth.cookies import Cookies
from crowdd.http.html.forms import Forms
from crowdd.http.html.rendering import Templates
from crowdd.http.pages.project.audit_log import ProjectAuditPages
from crowdd.http.pages.project.background_tasks import WorkPages
from crowdd.http.pages.project.blog import BlogPages
from crowdd.http.pages.project.creation import NewProjectPages
from crowdd.http.pages.project.data.exports import ExportPages
from crowdd.http.pages.project.data.imports import ImportPages
from crowdd.http.pages.project.data.task_changes import ChangePages
from crowdd.http.pages.project.data.tasks import TaskPages
from crowdd.http.pages.project.data.volunteers import VolunteerPages
from crowdd.http.pages.project.deletion import DeletingPages
from crowdd.http.pages.project.details import UpdatePages
from crowdd.http.pages.project.overview import OverviewPages
from crowdd.http.pages.project.owners import OwnersPages
from crowdd.http.pages.project.password import PasswordPages
from crowdd.http.pages.project.pictures import PicturePages
from crowdd.http.pages.project.presenters.editor import EditorPages
from crowdd.http.pages.project.presenters.pages import PresentingPages
from crowdd.http.pages.project.project_lists import ProjectListPages
from crowdd.http.pages.project.publication import PublishingPages
from crowdd.http.pages.project.settings import ProjectSettingsPages
from crowdd.http.pages.project.statistics import ProjectStatisticsPages
from crowdd.http.pages.project.views import ProjectViews
from crowdd.http.pages.project.webhooks import WebhookPages


def rooms(services: Services, forms: Forms, cookies: Cookies, templates: Templates) -> list[Any]:
    """Where projects are found and made, and everything about one of them in the browser."""
    views = ProjectViews(services)
    return [
        OverviewPages(services, views, cookies),
        PublishingPages(services, forms, views),
        PasswordPages(services, forms, cookies),
        WebhookPages(services, forms, views),
        PresentingPages(services, Confirm(forms.csrf), views, templates),
        ProjectStatisticsPages(services, views),
        TaskPages(services, forms, views),
        ExportPages(services, views),
        ImportPages(services, forms, views),
        ChangePages(services, forms, views),
        WorkPages(services, forms, views),
        ProjectListPages(services),
        NewProjectPages(services, forms),
        ProjectSettingsPages(services, forms, views),
        VolunteerPages(services, forms, views),
        UpdatePages(services, forms, views),
        PicturePages(services, forms, views),
        EditorPages(services, forms, views, templates),
        OwnersPages(services, forms, views),
        BlogPages(services, forms, views),
        DeletingPages(services, forms, views),
        ProjectAuditPages(services, views),
    ]
