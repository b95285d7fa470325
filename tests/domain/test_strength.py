"""How good passwords are, and how long it takes to say so; what the memory of right ones forgets."""

import pytest
from twisted.internet.task import Clock

from crowdd.features.accounts import passwords
from crowdd.features.accounts.passwords import REMEMBERED_SECONDS, Remembered, assess, is_common, words_of

WORDS = words_of("Galaxy Bay", "crowd.uni.example", "ruth", "Ruth Lindgren", "ruth.lindgren@mail.example")


@pytest.mark.parametrize(
    ("password", "mistake"),
    [
        ("1234567890", passwords.COMMON_MESSAGE), ("PASSWORD123", passwords.COMMON_MESSAGE), ("qwertyuiop", passwords.COMMON_MESSAGE),
        ("Galaxy Bay 1", passwords.OWN_WORDS_MESSAGE), ("crowd.uni.example", passwords.OWN_WORDS_MESSAGE),
        ("Lindgren-2024", passwords.OWN_WORDS_MESSAGE), ("ruth.lindgren@mail.example", passwords.OWN_WORDS_MESSAGE),
        ("jjjjjjjjjjjjjj", passwords.GUESSABLE_MESSAGE), ("hunter2hunter2", passwords.GUESSABLE_MESSAGE), ("qwertyuiop[]", passwords.GUESSABLE_MESSAGE),
    ],
)  # fmt: skip
def test_a_password_that_is_common_of_the_site_or_easy_is_ruled_out_and_says_what_to_change(password, mistake):
    assessment = assess(password, WORDS)
    assert assessment.mistakes[0] == mistake and assessment.advice and assessment.score <= 1


@pytest.mark.parametrize(
    "password",
    [
        "correct horse battery staple",
        "zKx93k!0Qw",
        "ein langes Passwort",
        "galaxy of purple umbrellas",
        "кошка под столом",
    ],
)
def test_a_good_password_passes(password):
    assert assess(password, WORDS).mistakes == ()


def test_the_list_has_the_100_000_most_common_in_any_case():
    assert all(is_common(word) for word in ("123456", "password", "dragon", "1q2w3e4r5t"))
    assert not any(is_common(word) for word in ("", "galaxy bay", "123456\npassword", "\ud800"))
    assert 95_000 < passwords._common().count(b"\n") <= 100_001


@pytest.mark.parametrize("password", ["4@8({[<369!|1705$+%2" * 4, "4(c" * 300, "ab1" * 300])
def test_a_long_password_is_estimated_in_short_parts(password):
    """zxcvbn alone needs many seconds for 72 characters. What it costs: bench/budgets/parts.py."""
    parts = [*passwords._parts(password)]
    assert parts and all(len(part) <= passwords._ESTIMATED for part in parts)


def test_a_right_password_is_remembered_for_its_hash_for_ten_minutes():
    clock = Clock()
    remembered = Remembered(clock)
    remembered.add("hash", "sesame")
    assert ("hash", "sesame") in remembered
    assert ("hash", "other") not in remembered and ("other hash", "sesame") not in remembered
    clock.advance(REMEMBERED_SECONDS)
    assert ("hash", "sesame") not in remembered
