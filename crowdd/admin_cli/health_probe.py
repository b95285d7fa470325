"""Ask the server of this machine whether it is ready."""

from __future__ import annotations

import http.client
import json
import ssl

from crowdd.config import Settings

OK = "ok"
_ASK_SECONDS = 5.0


def complaints(settings: Settings) -> list[str] | None:
    """What the server says that it lacks (``/ready``): nothing when it is well; None when no server answers."""
    connection = _connection(settings)
    try:
        connection.request("GET", "/ready")
        checks = json.loads(connection.getresponse().read())["checks"]
        return [words for words in checks.values() if words != OK]
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
        return None
    finally:
        connection.close()


def healthy(settings: Settings) -> bool:
    """Whether a server answers that it can do its work."""
    return complaints(settings) == []


def reachable(host: str) -> str:
    """Where to ask a server that listens here; one that listens everywhere is asked on this machine."""
    return {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104


def _connection(settings: Settings) -> http.client.HTTPConnection:
    host, port = reachable(settings.http.host), settings.http.port
    if not settings.http.tls_certificate:
        return http.client.HTTPConnection(host, port, timeout=_ASK_SECONDS)
    # It is asked by its address, which no certificate names; and it is our own.
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    return http.client.HTTPSConnection(host, port, timeout=_ASK_SECONDS, context=trusting)
