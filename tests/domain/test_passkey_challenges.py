"""Passkeys without a browser: where they work, and for whom a challenge is."""

import orjson
import pytest
import pytest_twisted

from crowdd.features.signin.feature import SigninFeature
from crowdd.features.signin.passkeys import Challenge, RelyingParty
from crowdd.kernel.errors import FormError

CREDENTIAL = orjson.dumps({"id": "AAAA", "rawId": "AAAA", "type": "public-key", "response": {}}).decode()


@pytest.mark.parametrize(
    ("base_url", "domain", "origins"),
    [
        ("https://crowd.example.org", "crowd.example.org", ("https://crowd.example.org",)),
        ("https://crowd.example.org:8443", "crowd.example.org", ("https://crowd.example.org:8443",)),
        ("http://crowd.example.org", "", ("http://crowd.example.org",)),
        ("https://192.0.2.1", "", ("https://192.0.2.1",)),
        ("http://localhost:8080", "localhost", ("http://localhost:8080",)),
        ("http://127.0.0.1:8080", "localhost", ("http://127.0.0.1:8080", "http://localhost:8080")),
        ("http://0.0.0.0:8080", "localhost", ("http://0.0.0.0:8080", "http://localhost:8080")),
    ],
)
def test_relying_party_is_the_host_of_the_public_address(base_url, domain, origins):
    party = RelyingParty.of(base_url, lambda: "crowdd")
    assert (party.id, party.origins) == (domain, origins)


@pytest.mark.parametrize(
    ("made_for", "asked_for", "purpose"),
    [(1, 2, "second"), (None, 2, "second"), (1, None, "second"), (1, 1, "prove")],
)
@pytest_twisted.ensureDeferred
async def test_challenge_of_another_person_or_purpose_is_refused(house, made_for, asked_for, purpose):
    """Somebody who owes a second factor must not give that of another account."""
    factors = house[SigninFeature].second_factors
    challenge = await factors.passkeys.challenge("second", made_for)
    with pytest.raises(FormError) as refused:
        await factors.check_passkey(CREDENTIAL, challenge, purpose, asked_for)
    assert refused.value.errors == {"credential": ["This took too long. Try again."]}


@pytest_twisted.ensureDeferred
async def test_challenge_ends_after_five_minutes(house, pool):
    factors = house[SigninFeature].second_factors
    challenge = await factors.passkeys.challenge("signin", None)
    await pool.execute("UPDATE clock_shift SET ahead = ahead + interval '6 minutes'")
    with pytest.raises(FormError) as refused:
        await factors.check_passkey(CREDENTIAL, challenge, "signin")
    assert refused.value.errors == {"credential": ["This took too long. Try again."]}


def test_no_challenge_in_an_empty_cookie():
    assert Challenge.unpacked("") is None
