"""Somebody who uses the server over HTTP, from a separate process: no part of crowdd is imported here."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from http.cookiejar import CookieJar
from typing import Any

import attrs


@attrs.frozen
class Answer:
    """What came back; ``json`` is None where the body is something else."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def json(self) -> Any:
        try:
            return json.loads(self.text)
        except ValueError:
            return None


class Person:
    """Somebody with a cookie jar and, after ``register``, an account and a key."""

    password = "a-long-password-1"

    def __init__(self, url: str) -> None:
        self.url = url
        self.jar = CookieJar()
        self.name = self.key = ""
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.jar))

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        """One request; a body other than bytes goes as JSON. ``Sec_Fetch_Dest="iframe"`` names a header."""
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        fields = {"Content-Type": "application/json"} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        request = urllib.request.Request(self.url + path, data, fields, method=method)
        try:
            with self._opener.open(request, timeout=60) as answer:
                return Answer(answer.status, answer.headers, answer.read().decode())
        except urllib.error.HTTPError as error:
            return Answer(error.code, error.headers, error.read().decode())

    def api(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """The JSON of a call of the API with this person's key; fails the test on any refusal."""
        words = urllib.parse.urlencode({**query, "api_key": self.key} if self.key else query)
        answer = self.ask(method, f"/api/{path}?{words}", body)
        assert 200 <= answer.status < 300, (method, path, answer.text)
        return answer.json

    def register(self, name: str) -> Person:
        """Makes an account and stays signed in."""
        token = self.ask("GET", "/account/register").json["form"]["csrf"]
        form = {"fullname": name, "name": name, "email_addr": f"{name}@example.org"}
        form |= {"password": self.password, "confirm": self.password, "csrf": token}
        answer = self.ask("POST", "/account/register", form, **{"X-CSRFToken": token})
        assert answer.status == 200, answer.text
        profile = self.profile()
        self.name, self.key = profile["user"]["name"], profile["user"]["api_key"]
        return self

    def sign_in(self) -> None:
        """Begins a new session."""
        token = self.ask("GET", "/account/signin").json["form"]["csrf"]
        form = {"email": self.name, "password": self.password, "csrf": token}
        answer = self.ask("POST", "/account/signin", form, **{"X-CSRFToken": token})
        assert answer.json["status"] == "success", answer.text

    def prove(self) -> None:
        """Proves who they are once more in this session."""
        token = self.ask("GET", "/account/prove").json["form"]["csrf"]
        answer = self.ask(
            "POST", "/account/prove", {"password": self.password, "csrf": token}, **{"X-CSRFToken": token}
        )
        assert answer.status in (200, 302), answer.text

    def csrf(self) -> str:
        """A token for the forms of this session."""
        return str(self.ask("GET", "/project/new").json["form"]["csrf"])

    def profile(self) -> Any:
        return self.ask("GET", "/account/profile").json

    def publish(self, short_name: str) -> None:
        path = f"/project/{short_name}/publish"
        token = self.ask("GET", path).json["csrf"]
        answer = self.ask("POST", path, {"csrf": token}, **{"X-CSRFToken": token})
        assert answer.status in (200, 302), answer.text

    def cookies(self, url: str, **attributes: Any) -> list[dict[str, Any]]:
        """This person's cookies for a browser that goes to ``url``."""
        base = {"url": url, "httpOnly": True, "sameSite": "Lax"} | attributes
        return [{"name": each.name, "value": each.value, **base} for each in self.jar]
