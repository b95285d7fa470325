"""nginx and Varnish before crowdd, configured as docs/operations.md says word by word; only ports and certificates are others.

They need ``apt-get install --no-install-recommends nginx varnish``. Each runs in a folder of its own, by nobody's service.
"""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_twisted
from support.servers.live import free_port
from support.servers.served import Client
from support.until import until
from support.visitors import HTML, VisitedSite

pytestmark = [pytest.mark.proof, pytest.mark.size]

ROOT = Path(__file__).parents[3]
DOCUMENTED = (ROOT / "docs" / "operations.md").read_text().partition("### Caches in front of crowdd")[2]
PAGES = ("/", "/leaderboard/", "/stats/", "/project/{p}/", "/project/{p}/stats", "/project/{p}/tasks/", "/account/{a}/")
SECONDS = 1  # that a page may be sent without asking, where that is tested
GRACE = 5.0  # seconds for a busy machine


def block(language: str) -> str:
    """A block of code of the documentation."""
    code_match = re.search(rf"```{language}\n(.*?)```", DOCUMENTED, re.DOTALL)
    assert code_match is not None
    return code_match[1]


def nginx(folder: Path, crowdd: int, port: int) -> list[str]:
    """The command for nginx before crowdd."""
    path, location = re.split(r"# Before \"location /\":\n", block("nginx"))
    (folder / "cache").mkdir()
    site = (ROOT / "etc" / "nginx.conf").read_text().replace("127.0.0.1:8000", f"127.0.0.1:{crowdd}")
    site = re.sub(r"server \{\n    listen 80;.*?\n\}\n", "", site, flags=re.DOTALL)
    site = re.sub(r"    ssl_certificate.*\n", "", site).replace("listen 443 ssl http2;", f"listen 127.0.0.1:{port};")
    site = site.replace("    location / {", location + "\n    location / {")
    temporary = " ".join(
        f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    conf = (
        f"daemon off; master_process off; pid {folder}/pid; error_log {folder}/log; events {{}}\n"
        f"http {{ {temporary}\n{path.replace('/var/cache/nginx/crowdd', f'{folder}/cache')}\n{site} }}"
    )
    (folder / "nginx.conf").write_text(conf)
    return ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")]


def varnish(folder: Path, crowdd: int, port: int) -> list[str]:
    """The command for Varnish before crowdd."""
    backend = f'vcl 4.1;\nbackend default {{ .host = "127.0.0.1"; .port = "{crowdd}"; }}\n'
    (folder / "default.vcl").write_text(backend + block("vcl"))
    place = ["-a", f"127.0.0.1:{port}", "-f", str(folder / "default.vcl"), "-n", str(folder / "run")]
    return ["varnishd", "-F", "-j", "none", "-T", "none", "-s", "malloc,10m", *place]


class Front:
    """A cache that runs. ``shown`` counts what it passed on."""

    def __init__(self, site: VisitedSite, base: str) -> None:
        self.site, self.base = site, base

    def of(self, client: Client) -> Client:
        """The client, who asks the cache from now on."""
        client.base = self.base
        return client

    async def seen(self, path: str, **headers: str) -> Any:
        """A page as a visitor gets it."""
        return await self.of(self.site.visitor()).get(self.site.at(path), headers={**HTML, **headers})

    async def passed(self) -> int:
        """How many requests for pages have come to crowdd."""
        text = (await self.site.served.client().get("/metrics")).text
        lines = [line for line in text.splitlines() if line.startswith("crowdd_requests_total{")]
        return int(sum(float(line.rpartition(" ")[2]) for line in lines if "/metrics" not in line))


@pytest.fixture(params=[nginx, varnish], ids=["nginx", "varnish"])
def begin(request: pytest.FixtureRequest) -> Iterator[Callable[[VisitedSite], Any]]:
    """Starts a cache before a site."""
    command: Callable[[Path, int, int], list[str]] = request.param
    folder = Path(tempfile.mkdtemp(prefix="crowdd-front-", dir="/tmp"))
    folder.chmod(0o755)
    running: list[subprocess.Popen[bytes]] = []

    async def start(site: VisitedSite) -> Front:
        port = free_port()
        words = command(folder, int(site.served.base.rpartition(":")[2]), port)
        if shutil.which(words[0]) is None:
            pytest.skip(f"{words[0]} is not installed: apt-get install nginx-light varnish")
        running.append(_started(words, folder / "output"))

        def listens() -> bool:
            assert running[0].poll() is None, (folder / "output").read_text()
            with socket.socket() as other:
                return other.connect_ex(("127.0.0.1", port)) == 0

        await until(listens)
        return Front(site, f"http://127.0.0.1:{port}")

    yield start
    for process in running:
        process.terminate()
        process.wait(30)
    shutil.rmtree(folder, ignore_errors=True)


def _started(words: list[str], output: Path) -> subprocess.Popen[bytes]:
    with output.open("wb") as file:
        return subprocess.Popen(words, stdout=file, stderr=file)


async def begun(serve: Any, begin: Any, seconds: int) -> Front:
    """A cache before a site with a project."""
    served = await serve(CROWDD_HTTP_SHARED_CACHE_SECONDS=str(seconds), CROWDD_HTTP_TRUSTED_PROXIES="127.0.0.1")
    front: Front = await begin(await VisitedSite(served).renew())

    async def shared() -> (
        bool
    ):  # the network of the cache has just changed something: it gets pages of its own for a while
        return (await front.seen("/")).header("etag") is not None

    await until(shared)
    return front


@pytest_twisted.ensureDeferred
async def test_pages_of_visitors_come_from_the_cache_and_those_of_people_never(serve, begin):
    front = await begun(serve, begin, 3600)
    browser = front.of(await front.site.browser("owner"))
    for path in map(front.site.at, PAGES):
        own = await browser.get(path, headers=HTML)
        assert own.status == 200 and "/account/signout" in own.text and own.header("cache-control") == "no-store"
        first = await front.seen(path)
        assert "/account/signout" not in first.text and first.header("set-cookie") is None, path
        before = await front.passed()
        again = [await front.seen(path) for _ in range(5)]
        assert {(page.body, page.header("etag")) for page in again} == {(first.body, first.header("etag"))}, path
        assert await front.passed() == before, f"{path} does not come from the cache"
        known = [front.seen(path, Authorization=front.site.owner.key), front.seen(path, Cookie="volunteer=x")]
        others = [await page for page in (browser.get(path, headers=HTML), *known)]
        others.append(await front.seen(path, Accept="application/json"))
        assert [page.header("cache-control") for page in others] == ["no-store"] * 3 + ["private, no-cache"], path
        assert await front.passed() == before + 4
        assert "/account/signout" in others[0].text and others[3].json()["template"], path
        assert 'lang="de"' in (await front.seen(path, **{"Accept-Language": "de"})).text
        assert (await front.seen(path)).body == first.body


@pytest_twisted.ensureDeferred
async def test_forms_and_the_api_do_not_come_from_the_cache(serve, begin):
    front = await begun(serve, begin, 3600)
    for path in ("/account/signin", f"/api/project/{front.site.project['id']}", "/api/task", "/health", "/about"):
        before = await front.passed()
        pages = [await front.seen(path) for _ in range(3)]
        assert {page.status for page in pages} == {200} and await front.passed() == before + 3, path


@pytest_twisted.ensureDeferred
async def test_a_lock_is_seen_as_late_as_the_operator_allowed(serve, begin):
    front = await begun(serve, begin, SECONDS)
    path, project = "/project/{p}/", front.site.project["id"]
    tag = (await front.seen(path)).header("etag")
    for locked in ("x", None, "x"):
        sql = "UPDATE project SET lock_id = %(lock)s, passwd_hash = %(lock)s WHERE id = %(id)s RETURNING 1"
        await front.site.sql(sql, lock=locked, id=project)
        began = time.monotonic()

        async def follows(expected: int = 302 if locked else 200) -> bool:
            return (await front.seen(path)).status == expected

        await until(follows)
        assert time.monotonic() - began < SECONDS + GRACE
        assert (await front.site.seen(path)).status == (302 if locked else 200), "at once without the cache"
    assert (await front.seen(path, **{"If-None-Match": tag})).status == 302
