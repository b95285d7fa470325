"""HTTPS by crowdd itself, and crowdd behind nginx as ``etc/nginx.conf`` has it."""

from __future__ import annotations

import datetime
import http.client
import json
import re
import shutil
import socket
import ssl
import subprocess
from pathlib import Path

import attrs
import pytest
import pytest_twisted
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from support.servers.live import free_port
from twisted.internet.threads import deferToThread

from crowdd.database.embedded.cluster import wait_until
from crowdd.kernel.config.server import HttpSettings
from crowdd.kernel.errors import ConfigError

ROOT = Path(__file__).parent.parent
NGINX = shutil.which("nginx") or shutil.which("/usr/sbin/nginx")


def certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """A new certificate for this machine, signed by itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    called = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(called).issuer_name(called).public_key(key.public_key()).serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1)).not_valid_after(now + datetime.timedelta(days=1))
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    paths = folder / f"{name}.pem", folder / f"{name}.key"
    paths[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    form = serialization.PrivateFormat.PKCS8
    paths[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()))
    return paths


class Browser:
    """Asks over TLS and takes any certificate."""

    def __init__(self, port: int, *protocols: str) -> None:
        self.port, self.context = port, ssl.create_default_context()
        self.context.check_hostname, self.context.verify_mode = False, ssl.CERT_NONE
        self.context.set_alpn_protocols([*protocols, "http/1.1"])

    def _connection(self) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection("127.0.0.1", self.port, context=self.context, timeout=60)

    def ask(self, method: str, path: str, body: bytes | None = None, **headers: str):
        """Status, headers, body and what the connection was."""
        connection = self._connection()
        try:
            connection.connect()
            protocol = connection.sock.selected_alpn_protocol()
            shown = x509.load_der_x509_certificate(connection.sock.getpeercert(True)).subject.rfc4514_string()
            connection.request(method, path, body, {name.replace("_", "-"): text for name, text in headers.items()})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read(), shown, protocol
        finally:
            connection.close()

    def all_that_comes(self, sent: bytes) -> bytes:
        """What is answered to these bytes until the other side says that nothing follows; an end without that is an error."""
        with (
            socket.create_connection(("127.0.0.1", self.port), timeout=60) as plain,
            self.context.wrap_socket(plain, server_hostname="birds", suppress_ragged_eofs=False) as line,
        ):
            line.sendall(sent)
            return b"".join(iter(lambda: line.recv(4096), b""))

    def first_lines(self, path: str) -> str:
        """What a stream begins with."""
        connection = self._connection()
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return "".join(answer.readline().decode() for _ in range(4))
        finally:
            connection.close()


async def browse(port: int, *words, **headers):
    return await deferToThread(Browser(port).ask, *words, **headers)


class TestOwnTls:
    @pytest_twisted.ensureDeferred
    async def test_pages_streams_and_refusals(self, serve, tmp_path):
        paths = certificate(tmp_path, "birds")
        served = await serve(CROWDD_HTTP_TLS_CERTIFICATE=str(paths[0]), CROWDD_HTTP_TLS_KEY=str(paths[1]))
        port = served.server._port.getHost().port
        status, headers, _, shown, protocol = await deferToThread(Browser(port, "h2").ask, "GET", "/about")
        assert (status, shown, protocol) == (200, "CN=birds", "http/1.1")
        assert all("Secure" in cookie for cookie in headers.get_all("set-cookie"))
        large = await browse(port, "POST", "/api/project", b"x" * 11_000_000)
        assert large[0] == 413 and b"too_large" in large[2]
        endless = b"POST /api/project HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n"
        assert b"too_large" in await deferToThread(Browser(port).all_that_comes, endless)
        assert served.server._settings.base_url.startswith("https://")
        key = (await served.person("owner")).key
        project = {"name": "Birds", "short_name": "birds", "description": "?", "info": {"task_presenter": "?"}}
        fields = {"Content_Type": "application/json", "Authorization": key}
        for path, body in (("/api/project", project), ("/api/task", {"project_id": 1}), ("/project/birds/publish", {})):
            sent = await browse(port, "POST", path, json.dumps(body).encode(), **fields)
            assert sent[0] == 200, sent[2]
        assert "event: state" in await deferToThread(Browser(port).first_lines, "/project/birds/live")

    @pytest_twisted.ensureDeferred
    async def test_a_renewed_certificate_is_shown_from_the_next_connection_on(self, serve, tmp_path):
        old, new = certificate(tmp_path, "old"), certificate(tmp_path, "new")
        both = tmp_path / "both.pem"
        both.write_bytes(old[0].read_bytes() + old[1].read_bytes())
        served = await serve(CROWDD_HTTP_TLS_CERTIFICATE=str(both))
        port = served.server._port.getHost().port
        assert (await browse(port, "GET", "/health"))[3] == "CN=old"
        both.write_bytes(new[0].read_bytes() + old[1].read_bytes())
        with pytest.raises(ConfigError, match="do not match"):
            served.server.prepared(served.server._settings)
        both.write_bytes(new[0].read_bytes() + new[1].read_bytes())
        served.server.prepared(served.server._settings)()
        assert (await browse(port, "GET", "/health"))[3] == "CN=new"


@pytest.fixture
def nginx(tmp_path):
    """nginx by etc/nginx.conf with ports of its own, before a crowdd on ``port``; gives the port for HTTPS."""
    if NGINX is None:
        pytest.skip("nginx is not installed: apt-get install nginx")
    running = []

    def begin(port: int) -> int:
        cert, key = certificate(tmp_path, "proxy")
        https = free_port()
        site = (ROOT / "etc/nginx.conf").read_text("utf-8")
        for pattern, text in (
            (r"127\.0\.0\.1:8000", f"127.0.0.1:{port}"), (r"listen 80;", f"listen 127.0.0.1:{free_port()};"),
            (r"listen 443", f"listen 127.0.0.1:{https}"), (r"ssl_certificate /\S+;", f"ssl_certificate {cert};"),
            (r"ssl_certificate_key /\S+;", f"ssl_certificate_key {key};"),
        ):  # fmt: skip
            site, count = re.subn(pattern, text, site)
            assert count == 1, pattern
        (tmp_path / "site.conf").write_text(site)
        temporary = "".join(
            f"{name}_temp_path {tmp_path}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        whole = tmp_path / "nginx.conf"
        whole.write_text(
            f"daemon off; master_process off; pid {tmp_path}/pid; error_log {tmp_path}/error.log; events {{}}"
            f" http {{ {temporary} include {tmp_path}/site.conf; }}"
        )
        process = subprocess.Popen([NGINX, "-p", tmp_path, "-c", whole], stderr=subprocess.PIPE)
        running.append(process)
        assert wait_until(lambda: (tmp_path / "pid").exists() or process.poll() is not None, 60)
        assert process.poll() is None, process.stderr.read()
        return https

    yield begin
    for process in running:
        process.terminate()
        process.wait(30)


class TestBehindNginx:
    def test_the_example_lets_pass_what_crowdd_takes(self):
        """A file of tasks above all: what is too large, crowdd says itself."""
        (megabytes,) = re.findall(r"client_max_body_size (\d+)m;", (ROOT / "etc/nginx.conf").read_text("utf-8"))
        http = HttpSettings()
        assert int(megabytes) << 20 > max(http.max_body_bytes, http.max_import_bytes)

    @pytest_twisted.ensureDeferred
    async def test_the_example_works(self, serve, nginx):
        served = await serve(
            CROWDD_HTTP_BASE_URL="https://crowdd.example.org", CROWDD_HTTP_TRUSTED_PROXIES="127.0.0.1",
            CROWDD_RATELIMIT_LIMIT="2", CROWDD_RATELIMIT_WINDOW="86400",
        )  # fmt: skip
        owner = await served.person("owner")
        port = nginx(served.server._port.getHost().port)
        status, headers, page, _, _ = await browse(port, "GET", "/")
        assert status == 200 and b"</html>" in page and headers.get_all("set-cookie") is None, (
            "all visitors get the same"
        )
        assert all("Secure" in each for each in (await browse(port, "GET", "/account/signin"))[1].get_all("set-cookie"))
        forged = [(await browse(port, "GET", "/api/category", X_Forwarded_For=f"192.0.2.{n}"))[0] for n in range(3)]
        assert forged == [200, 200, 429], "what a client says of itself does not count"
        assert (await browse(port, "GET", "/metrics"))[0] == 404
        assert (await browse(port, "POST", "/api/project", b"x" * 10_500_000))[0] == 413
        await served.project(owner, tasks=1, published=True)
        limits = attrs.evolve(served.server._settings.ratelimit, limit=0)
        served.server.prepared(attrs.evolve(served.server._settings, ratelimit=limits))()
        begun = await deferToThread(Browser(port).first_lines, "/project/birds/live")
        assert "event: state" in begun, "a stream is not held back"
