"""Rooms of the pages below /admin."""

from __future__ import annotations

from typing import Any

from crowdd.domain.server.services import Domain
from crowdd.http.html.forms import Forms
from crowdd.http.pages.admin.announcements import AdminAnnouncements
from crowdd.http.pages.admin.categories import AdminCategories
from crowdd.http.pages.admin.dashboard import AdminDashboard
from crowdd.http.pages.admin.featured import AdminFeatured
from crowdd.http.pages.admin.operations import AdminMail, AdminOperation, AdminQueue
from crowdd.http.pages.admin.security import AdminSecurity
from crowdd.http.pages.admin.users import AdminUsers


def rooms(domain: Domain, forms: Forms) -> list[Any]:
    """Everything that only administrators get to."""
    return [
        AdminUsers(domain, forms),
        AdminCategories(domain, forms),
        AdminFeatured(domain, forms),
        AdminAnnouncements(domain, forms),
        AdminDashboard(domain),
        AdminSecurity(domain),
        AdminQueue(domain, forms),
        AdminMail(domain, forms),
        AdminOperation(domain),
    ]
