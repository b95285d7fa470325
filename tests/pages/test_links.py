"""No page of ours leads to a place that is not there."""

import re

import pytest
import pytest_twisted


async def links(client, path):
    """The paths of this site that a page links to, and the addresses of its forms but for those that post."""
    page = await client.get(path)
    if page.status == 302:
        return {page.header("location")}
    assert page.status == 200, (path, page.status)
    if not (page.header("content-type") or "").startswith("text/html"):  # a picture or a file to download
        return set()
    without = re.sub(r'<form[^>]* method="post"[^>]*>', "", page.text)
    addresses = re.findall(r'(?:href|action|src)="(/[^"#]*)"', without)
    return {address.replace("&amp;", "&") for address in addresses}


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_every_link_of_every_page_leads_somewhere(served):
    owner = await served.person("owner", admin=True)
    await served.project(owner, tasks=2)
    await served.project(owner, "stars", tasks=2, published=True)
    browser = served.client()
    form = {"email": "owner@example.org", "password": "a good password"}
    assert (await browser.send_form("/account/signin", form)).status == 200
    for client in (served.client(), browser):
        seen, waiting = set(), {"/", "/project/stars/", "/account/register"}
        waiting |= {"/project/birds/"} if client is browser else set()  # a draft
        while waiting:
            path = waiting.pop()
            seen.add(path)
            if path.startswith(("/static/", "/api/", "/uploads/")):
                assert (await client.get(path)).status == 200, path
                continue
            for address in await links(client, path):
                if address not in seen and "first-admin" not in address and not address.startswith("/account/signin?"):
                    waiting.add(address)
        assert len(seen) > 8
