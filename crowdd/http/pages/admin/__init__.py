"""Rooms of the pages below /admin."""

from __future__ import annotations

from typing import Any

from crowdd.domain.server.services import Services
from crowdd.http.html.forms import Forms
from crowdd.http.pages.admin.announcements import AdminAnnouncements
from crowdd.http.pages.admin.categories import AdminCategories
from crowdd.http.pages.admin.dashboard import AdminDashboard
from crowdd.http.pages.admin.featured import AdminFeatured
from crowdd.http.pages.admin.operations import AdminMail, AdminOperation, AdminQueue
from crowdd.http.pages.admin.security import AdminSecurity
from crowdd.http.pages.admin.users import AdminUsers


def rooms(services: Services, forms: Forms) -> list[Any]:
    """Everything that only administrators get to."""
    return [
        AdminUsers(services, forms),
        AdminCategories(services, forms),
        AdminFeatured(services, forms),
        AdminAnnouncements(services, forms),
        AdminDashboard(services),
        AdminSecurity(services),
        AdminQueue(services, forms),
        AdminMail(services, forms),
        AdminOperation(services),
    ]
