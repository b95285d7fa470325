"""The views below /admin."""

from __future__ import annotations

from crowdd.domain.server.services import Services
from crowdd.http.html.forms import Forms
from crowdd.http.pages.admin.announcements import AdminAnnouncements
from crowdd.http.pages.admin.audit import AdminLogs
from crowdd.http.pages.admin.categories import AdminCategories
from crowdd.http.pages.admin.dashboard import AdminDashboard
from crowdd.http.pages.admin.featured import AdminFeatured
from crowdd.http.pages.admin.invitations import AdminInvitations
from crowdd.http.pages.admin.operations import AdminMail, AdminOperation, AdminQueue
from crowdd.http.pages.admin.projects import AdminProjects
from crowdd.http.pages.admin.site import AdminSite
from crowdd.http.pages.admin.templates import AdminTemplates
from crowdd.http.pages.admin.users import AdminUsers
from crowdd.http.pages.omitted_pictures import LeftOut
from crowdd.http.routing import View


def pages(services: Services, forms: Forms, left_out: LeftOut) -> list[View]:
    """The views for administrators."""
    return [
        AdminUsers(services.administration, services.accounts, forms),
        AdminProjects(services.administration),
        AdminCategories(services.administration, services.records, forms),
        AdminFeatured(services.administration, services.records, forms),
        AdminAnnouncements(services.records, forms, left_out),
        AdminDashboard(services.administration, services.statistics),
        AdminLogs(services.administration),
        AdminSite(services.site_administration, services.site, forms),
        AdminTemplates(services.gallery, services.template_maker, services.people.worker_thread, forms),
        AdminInvitations(services.invitations, services.settings.base_url, forms),
        AdminQueue(services.administration, services.queue, forms),
        AdminMail(services.administration, services.mail, forms),
        AdminOperation(services.administration, services.webhooks),
    ]
