"""The four kinds of volunteers, as clients: a browser, an address, a person with an API key, an external user."""

from __future__ import annotations

from collections.abc import Iterator

from support.person import Person

from bench.support.testbed import Project
from bench.support.wire import Client

# Of every ten clients; what the people of a project are in life is not known, so each kind has its share.
SHARES = {"browser": 2, "address": 4, "user": 3, "external": 1}


def kinds(count: int) -> Iterator[str]:
    """The kinds of so many clients, mixed by SHARES."""
    pattern = [kind for kind, share in SHARES.items() for _ in range(share)]
    for number in range(count):
        yield pattern[number % len(pattern)]


def address(number: int) -> str:
    """An address that nobody else has."""
    return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


async def make(kind: str, number: int, port: int, project: Project) -> Client:
    """A client that has done what its kind does before the first task."""
    match kind:
        case "browser":
            return await browser(port, project, number)
        case "user":
            name = f"{project.short_name}-{number}"
            return Client(port, query=f"api_key={Person(f'http://127.0.0.1:{port}').register(name).key}")
        case "external":
            return await external(port, project, f"outside-{number}")
        case _:
            return Client(port, {"X-Forwarded-For": address(number)})


async def browser(port: int, project: Project, number: int = 0) -> Client:
    """Fetches the page with the presenter and keeps what it sets. Volunteers are on networks of their own."""
    client = Client(port, {"X-Forwarded-For": address(number)})
    page = await client.ask("GET", f"/project/{project.short_name}/newtask", Accept="text/html")
    if page.status != 200 or not any(pair.startswith("volunteer=") for pair in page.cookies):
        raise AssertionError(f"The page made no volunteer of its browser: {page.status} {page.cookies}")
    client.remember(page.cookies)
    return client


async def external(port: int, project: Project, uid: str) -> Client:
    """Gets the project's token with its secret key."""
    path = f"/api/auth/project/{project.short_name}/token"
    asked = Client(port)
    token = (await asked.ask("GET", path, Authorization=project.secret_key)).body.decode()
    asked.close()
    headers = {"Authorization": f"Bearer {token}", "X-Forwarded-For": "10.255.255.1"}
    return Client(port, headers, query=f"external_uid={uid}")
