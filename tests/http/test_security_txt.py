"""``/.well-known/security.txt`` (RFC 9116)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import pytest_twisted
from support.checks.shows import shows

from crowdd.features.site.front_pages import security_txt

AT = "/.well-known/security.txt"


@shows("security-txt")
@pytest_twisted.ensureDeferred
async def test_there_is_none_until_the_operator_names_a_contact(served):
    assert (await served.client().get(AT)).status == 404


@shows("security-txt")
@pytest_twisted.ensureDeferred
async def test_it_names_the_contact_for_half_a_year(serve):
    served = await serve(
        CROWDD_SITE_SECURITY_CONTACT="security@crowd.example", CROWDD_HTTP_BASE_URL="https://crowd.example"
    )
    answer = await served.client().get(AT)
    assert (answer.status, answer.header("content-type")) == (200, "text/plain; charset=utf-8")
    fields = dict(line.split(": ", 1) for line in answer.text.splitlines())
    assert fields["Contact"] == "mailto:security@crowd.example"
    assert fields["Canonical"] == f"https://crowd.example{AT}"
    expires = datetime.strptime(fields["Expires"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    assert timedelta(days=30) < expires - datetime.now(UTC) < timedelta(days=365)
    assert answer.header("set-cookie") is None


@pytest.mark.parametrize(
    ("contact", "line"),
    [("https://crowd.example/report", "https://crowd.example/report"), ("a@b.example", "mailto:a@b.example")],
)
def test_a_page_or_an_address_may_be_the_contact(contact, line):
    text = security_txt(contact, f"https://crowd.example{AT}", datetime(2026, 1, 31, 12, tzinfo=UTC))
    assert text.splitlines()[:2] == [f"Contact: {line}", "Expires: 2026-07-30T00:00:00Z"]
