"""Requests to identity providers, and what they may answer."""

from __future__ import annotations

import base64
import hashlib
from urllib.parse import parse_qsl, urlsplit

import pytest

from crowdd.features.signin.providers import OAuthClient, OAuthState
from crowdd.kernel.errors import ProviderError

CLIENT = OAuthClient("github", "crowdd at home", "a secret & more")
STATE = OAuthState("github", "/", 0.0)
BACK = "http://crowd.example/github/oauth_authorized"


def test_question_to_the_provider_has_state_and_challenge():
    address = CLIENT.authorization("https://github.example/authorize?tenant=1", STATE, BACK, scope="a b", nonce="n")
    digest = hashlib.sha256(STATE.verifier.encode()).digest()
    assert dict(parse_qsl(urlsplit(address).query)) == {
        "tenant": "1", "response_type": "code", "client_id": "crowdd at home", "redirect_uri": BACK, "scope": "a b",
        "state": STATE.state, "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
        "code_challenge_method": "S256", "nonce": "n",
    }  # fmt: skip


def test_provider_without_https_is_refused(monkeypatch):
    monkeypatch.delenv("OAUTHLIB_INSECURE_TRANSPORT", raising=False)
    with pytest.raises(ProviderError, match="The address of GitHub must begin with https"):
        CLIENT.authorization("http://github.example/authorize", STATE, BACK)


def test_form_for_the_code_has_secret_and_verifier():
    assert dict(parse_qsl(CLIENT.exchange("c&d", STATE, BACK).decode())) == {
        "grant_type": "authorization_code", "code": "c&d", "redirect_uri": BACK, "client_id": "crowdd at home",
        "client_secret": "a secret & more", "code_verifier": STATE.verifier,
    }  # fmt: skip


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{}", b"[]", b"7", b"null", b'"text"', b'{"error": "bad_verification_code"}', b"\xff", b"<html>",
        b'{"error": {"a": 1}}', b'{"access_token": "t", "expires_in": "soon"}', b'{"access_token": "t", "scope": 7}',
    ],
)  # fmt: skip
def test_answer_without_tokens_has_none(body):
    assert not CLIENT.tokens(body).get("access_token")


def test_tokens_are_read_with_what_comes_beside_them():
    document = CLIENT.tokens(b'{"access_token": "t", "token_type": "bearer", "id_token": "i", "scope": "a,b"}')
    assert (document["access_token"], document["id_token"]) == ("t", "i")
