"""Browsers of people: cookies and forms, no API key."""

from __future__ import annotations

from typing import Any

from crowdd.features.projects.feature import ProjectsFeature
from crowdd.kernel.requester import Requester
from support.servers.served import PASSWORD, Client, Response, Served

JSON = {"Content-Type": "application/json"}


def registration(name: str, **changes: str) -> dict[str, str]:
    """A form that is right but for the changes."""
    form = {"name": name, "fullname": name.title(), "email_addr": f"{name}@example.org"}
    return {**form, "password": PASSWORD, "confirm": PASSWORD, **changes}


async def newcomer(served: Served, name: str) -> Client:
    """The browser of somebody who has just signed up."""
    browser = served.client()
    answer = await browser.send_form("/account/register", registration(name))
    assert answer.status == 200 and answer.json()["next"] == "/", answer.body
    return browser


async def sign_in(browser: Client, name: str, password: str = PASSWORD) -> Response:
    """Sends the form of the sign-in page."""
    return await browser.send_form("/account/signin", {"email": f"{name}@example.org", "password": password})


async def signed_in(served: Served, name: str) -> Client:
    """A browser in which somebody who has an account signed in."""
    browser = served.client()
    answer = await sign_in(browser, name)
    assert answer.json()["status"] == "success", answer.body
    return browser


async def who(client: Client) -> Any:
    """The name of the signed-in person, or None."""
    return (await client.page("/account/profile")).json().get("user", {}).get("name")


async def lock(served: Served, short_name: str, owner: Any, password: str) -> None:
    """Gives a project a password."""
    requester = Requester(user_id=owner.user_id, via="cli")
    row = await served.house[ProjectsFeature].projects.owned(short_name, requester)
    await served.house[ProjectsFeature].projects.set_password(row, requester, password)
