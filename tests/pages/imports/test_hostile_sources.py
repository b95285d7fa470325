"""Addresses that lead inside, to a page, or never end: each is refused with a sentence, and nothing inside is asked."""

from __future__ import annotations

import functools
import gzip
import http.server
import io
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress

import orjson
import pytest
import pytest_twisted
from support.checks.shows import shows
from support.iiif import collection
from support.importing import AT
from support.servers.queue_runner import worked
from twisted.internet.defer import succeed

from crowdd.core.outbound import client
from crowdd.features.imports import imports
from crowdd.features.imports.prepared import iiif_collections

SIGN_IN = b'<!DOCTYPE html><html><head><title>Google Docs: Sign-in</title></head><body><form action="https://accounts.google.com/ServiceLogin"></form></body></html>'
MAX_BYTES = 1_000_000
BOMB = functools.cache(lambda: gzip.compress(bytes(100_000_000)))  # takes a second of a busy machine


class Hostile:
    """A server that means harm. ``asked`` counts requests by path; ``inside`` stands for a server inside the network."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.redirects: dict[str, str] = {}
        self.sent = 0
        source = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                source.asked[self.path] += 1
                with suppress(OSError):
                    source._answer(self)

            def log_message(self, *_: object) -> None: ...

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def _answer(self, request: http.server.BaseHTTPRequestHandler) -> None:
        path = request.path
        if path in self.redirects:
            request.send_response(302)
            request.send_header("Location", self.redirects[path])
            request.end_headers()
            return
        request.send_response(200)
        if path == "/gzip":
            request.send_header("Content-Encoding", "gzip")
        request.end_headers()
        if path in ("/endless", "/slow"):
            while True:
                piece = b"a,b\n" * 10_000 if path == "/endless" else b"a"
                request.wfile.write(piece)
                self.sent += len(piece)
                if path == "/slow":
                    threading.Event().wait(0.05)
        request.wfile.write(BOMB() if path == "/gzip" else SIGN_IN if path == "/sign-in" else b"a,b\n1,2\n")

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def hostile() -> Iterator[Hostile]:
    source = Hostile()
    yield source
    source.close()


@shows("page-import-hostile")
@pytest_twisted.ensureDeferred
async def test_hostile_addresses_are_refused_with_a_sentence(serve, hostile, monkeypatch):
    names = {
        "rebinds.example": ["93.184.215.14", "127.0.0.1"],
        "inside.example": ["10.0.0.8"],
        "meta.example": ["::ffff:169.254.169.254"],
    }
    monkeypatch.setattr(client.SystemResolver, "addresses", lambda _self, host, _port: succeed(names.get(host, [host])))
    served = await serve(
        CROWDD_OUTGOING_ALLOWED_HOSTS=f"127.0.0.1:{hostile.port}", CROWDD_HTTP_MAX_IMPORT_BYTES=str(MAX_BYTES)
    )
    owner = await served.person("owner")
    await served.project(owner)
    hostile.redirects = {
        "/inside": "http://169.254.169.254/latest/meta-data", "/file": "file:///etc/passwd",
        "/name": f"http://inside.example:{hostile.port}/secret", "/loop": "/loop", "/later": "/slow", "/other-port": "http://127.0.0.1:22/",
    }  # fmt: skip
    for address, words in (
        (f"{hostile.url}/sign-in", "sign-in page"),
        (f"{hostile.url}/gzip", "compressed"),
        (f"{hostile.url}/endless", "more than 1,000,000 bytes"),
        (f"{hostile.url}/later", "did not respond within 1.5 seconds"),
        (f"{hostile.url}/inside", "link-local address"),
        (f"{hostile.url}/file", "does not begin with http"),
        (f"{hostile.url}/name", "private address"),
        (f"{hostile.url}/loop", "redirects more than 5 times"),
        (f"{hostile.url}/other-port", "web port"),
        (f"http://rebinds.example:{hostile.port}/x", "loopback address"),
        (f"http://meta.example:{hostile.port}/x", "link-local address"),
        ("http://2130706433/", "127.0.0.1"),
        ("http://0x7f.1/", "127.0.0.1"),
        ("https://user:word@example.org/", "user name and password"),
    ):
        monkeypatch.setattr(imports, "FETCH_SECONDS", 1.5 if address.endswith("/later") else 60.0)
        for field in ("csv_url", "googledocs_url", "manifest_uri"):
            refused = (await owner.post(AT, json={field: address})).json()
            assert refused["status"] == "error" and words in refused["flash"], (address, refused["flash"])
            if address.endswith(("/later", "/endless", "/gzip")):
                break
    assert hostile.asked["/secret"] == hostile.asked["/x"] == 0
    assert hostile.sent < 60_000_000, "who sends without end is cut off"
    assert list((served.house.base.settings.data.dir / "imports").iterdir()) == []


@pytest_twisted.ensureDeferred
async def test_documents_of_a_hostile_collection_are_refused_one_by_one(serve, hostile, monkeypatch):
    monkeypatch.setattr(iiif_collections, "FETCH_SECONDS", 3.0)
    monkeypatch.setattr(iiif_collections, "MAX_MANIFEST_BYTES", MAX_BYTES)
    names = {"inside.example": ["10.0.0.8"]}
    monkeypatch.setattr(client.SystemResolver, "addresses", lambda _self, host, _port: succeed(names.get(host, [host])))
    served = await serve(CROWDD_OUTGOING_ALLOWED_HOSTS=f"127.0.0.1:{hostile.port}")
    owner = await served.person("owner")
    await served.project(owner)
    hostile.redirects = {"/inside": "http://10.0.0.8/secret"}
    paths = [f"{hostile.url}{path}" for path in ("/inside", "/sign-in", "/gzip", "/endless")]
    paths += [f"http://inside.example:{hostile.port}/secret", "http://169.254.169.254/m", "file:///etc/passwd"]
    document = orjson.dumps(collection("https://example.org/c", *(("Manifest", path) for path in paths)))
    files = {"file": ("c.json", "application/json", io.BytesIO(document))}
    brought = (await owner.post(f"{AT}?response_format=json", data={"map": "y"}, files=files)).json()
    await worked(served)
    page = (await owner.page(brought["next"])).json()
    assert "No row of the file can be used" in page["import"]["check_error"], page["import"]
    assert hostile.asked["/secret"] == 0 and hostile.asked["/endless"] == 1
