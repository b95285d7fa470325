"""The pages of recognition."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from crowdd.core.base import Base
from crowdd.features.accounts.feature import AccountsFeature
from crowdd.features.projects.feature import ProjectsFeature
from crowdd.features.projects.web import ProjectsWeb
from crowdd.features.recognition.board_pages import BoardPages
from crowdd.features.recognition.certificate_pages import CertificateFiles, CertificatePages
from crowdd.features.recognition.feature import RecognitionFeature
from crowdd.features.recognition.pages import ContributionPages, ShareCardPages
from crowdd.http.routing import View
from crowdd.http.web import FeatureWeb, Web


@attrs.frozen
class RecognitionWeb(FeatureWeb):
    """Recognition in the browser."""

    web: Web
    base: Base
    accounts: AccountsFeature
    projects: ProjectsFeature
    recognition: RecognitionFeature
    project_pages: ProjectsWeb

    def views(self) -> Iterator[View]:
        accounts, ours, templates = self.accounts.accounts, self.recognition, self.web.templates
        files = CertificateFiles(ours.thread, templates, self.base.site.name, self.base.base_url)
        yield ContributionPages(accounts, ours.contributions, ours.certificates, self.web.forms)
        yield ShareCardPages(accounts, ours.contributions, templates)
        yield CertificatePages(accounts, ours.certificates, files)
        yield BoardPages(ours.boards, self.projects.projects, self.project_pages.project_views)
