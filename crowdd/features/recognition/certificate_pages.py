"""Certificates: as PDF for the person, and the page on which anybody who has the link checks one."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterator
from typing import Final

import attrs

from crowdd.features.accounts.accounts import Accounts
from crowdd.features.projects.posters import draw_pdf
from crowdd.features.recognition.certificate_drawing import DESCRIPTION, CertificatePage
from crowdd.features.recognition.certificates import Certificates
from crowdd.features.recognition.pages import path_of, shown_certificate
from crowdd.features.recognition.rows import Certificate
from crowdd.features.signin.views import own_account
from crowdd.http.html.rendering import Templates
from crowdd.http.reader_language import locale_of
from crowdd.http.request import Incoming
from crowdd.http.responses import BytesResponse, Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get, post
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.errors import InvalidValueError, UnavailableError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values

_PROGRAM: Final = "crowdd.features.recognition.certificate_drawing:make_pdf"
_ONE: Final = "/account/<name>/certificates/<int:certificate_id>"
_CHECK: Final = "/certificate/"


class CertificatePublic(Titled):
    """What the certificate states, without what would lead to the account."""

    certificate: Values


class CertificateFiles:
    """Draws certificates, one at a time. ``site`` returns the name of the site."""

    def __init__(self, thread: WorkerThread, templates: Templates, site: Callable[[], str], base_url: str) -> None:
        self._thread, self._templates, self._site = thread, templates, site
        self._base_url = base_url.rstrip("/")

    async def pdf(self, row: Certificate, locale: str) -> bytes:
        """The certificate in a language. Raises as ``draw_pdf``."""
        page = self.page(row, locale)
        described = {DESCRIPTION: json.dumps(attrs.asdict(page))}
        return await self._thread.do(draw_pdf, _PROGRAM, described)

    def page(self, row: Certificate, locale: str) -> CertificatePage:
        """Its texts, which are those of the page on which it is checked."""
        context = {"certificate": shown_certificate(row), "locale": locale, "site_name": self._site()}
        written = html.unescape(self._templates.render("account/_certificate_words.html", context))
        title, sentence, heading, counts, issued, check, *projects = filter(None, map(str.strip, written.splitlines()))
        return CertificatePage(
            site=self._site(),
            title=title,
            name=row["name"],
            sentence=sentence,
            heading=heading,
            projects=tuple(projects),
            counts=counts,
            issued=issued,
            check=check,
            address=f"{self._base_url}{_CHECK}{row['key']}",
        )


class CertificatePages:
    """``/account/<name>/certificates/<id>`` and ``/certificate/<key>``."""

    def __init__(self, accounts: Accounts, certificates: Certificates, files: CertificateFiles) -> None:
        self._accounts, self._certificates, self._files = accounts, certificates, files

    def routes(self) -> Iterator[Route]:
        yield get(f"{_ONE}/certificate.pdf", self.pdf, page=False)
        yield post(f"{_ONE}/withdraw", self.withdraw)
        yield get(f"{_CHECK}<certificate_key>", self.check)

    async def pdf(self, incoming: Incoming, name: str, certificate_id: int) -> Response:
        """The certificate as PDF. Where it cannot be drawn, a sentence says why and leads to the page to print."""
        owner = (await own_account(self._accounts, incoming, name, admins=False))["name"]
        row = await self._certificates.find(incoming.who, certificate_id)
        try:
            content = await self._files.pdf(row, locale_of(incoming))
        except (InvalidValueError, UnavailableError) as error:
            if incoming.wants_json:
                raise
            return Redirect(f"{path_of(owner)}#certificates", error.args[0], "error")
        headers = {
            "Content-Disposition": f'attachment; filename="certificate-{row["id"]}.pdf"',
            "Cache-Control": "private, no-store",
        }
        return BytesResponse(content, "application/pdf", headers=headers)

    async def withdraw(self, incoming: Incoming, name: str, certificate_id: int) -> Response:
        """Ends a certificate."""
        owner = (await own_account(self._accounts, incoming, name, admins=False))["name"]
        await self._certificates.withdraw(incoming.who, certificate_id)
        return Redirect(f"{path_of(owner)}#certificates", _("The certificate has been withdrawn."))

    async def check(self, incoming: Incoming, certificate_key: str) -> Response:
        """What a certificate states, for anybody with its link."""
        row = await self._certificates.check(certificate_key[:100])
        stated = {name: value for name, value in shown_certificate(row).items() if name not in ("id", "key")}
        return Page("account/certificate.html", CertificatePublic(title=_("Certificate"), certificate=stated))
