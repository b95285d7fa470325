"""Who may: a decision over roles."""

import pytest
from support.checks.shows import shows

from crowdd.core.records import rights
from crowdd.kernel.errors import AnonymousError, ForbiddenError
from crowdd.kernel.requester import Requester, network
from crowdd.kinds.roles import ADMINS, EVERYONE, NOBODY, OWNERS, Role

NONE = frozenset()
PERSON, STRANGER = Requester(user_id=1), Requester()
CASES = [
    (PERSON, {Role.OWNER}, OWNERS, None), (PERSON, {Role.ADMIN}, OWNERS, None), (PERSON, NONE, EVERYONE, None),
    (STRANGER, NONE, EVERYONE, None), (STRANGER, {Role.ANYBODY}, EVERYONE, None),
    (PERSON, {Role.ANYBODY, Role.SIGNED_IN}, OWNERS, ForbiddenError), (PERSON, NONE, NOBODY, ForbiddenError),
    (PERSON, {Role.OWNER}, ADMINS, ForbiddenError), (PERSON, {Role.OWNER}, NOBODY, ForbiddenError),
    (STRANGER, NONE, OWNERS, AnonymousError), (STRANGER, NONE, NOBODY, AnonymousError),
    (STRANGER, {Role.UNLOCKED}, OWNERS, AnonymousError),
    (Requester(user_id=1, presenter=2), {Role.UNLOCKED}, OWNERS, AnonymousError),
]  # fmt: skip


@pytest.mark.parametrize(("who", "have", "wanted", "refusal"), CASES)
def test_one_of_the_wanted_standings_is_enough(who, have, wanted, refusal):
    if refusal is None:
        rights.require(who, frozenset(have), wanted)
        return
    with pytest.raises(refusal) as error:
        rights.require(who, frozenset(have), wanted)
    assert str(error.value)


@pytest.mark.parametrize(
    ("who", "expected"),
    [
        (STRANGER, {Role.ANYBODY}),
        (PERSON, {Role.ANYBODY, Role.SIGNED_IN}),
        (Requester(user_id=1, admin=True), {Role.ANYBODY, Role.SIGNED_IN, Role.ADMIN}),
        (Requester(user_id=1, admin=True, presenter=3), {Role.ANYBODY}),
    ],
)
def test_standings_that_need_no_row(who, expected):
    assert rights.of_requester(who) == expected


def test_the_words_of_a_refusal_can_be_chosen():
    with pytest.raises(ForbiddenError, match=r"^No$"):
        rights.require(PERSON, NONE, OWNERS, "No")


@pytest.mark.parametrize(
    ("who", "actor"),
    [
        (Requester(user_id=7, external_uid="42", volunteer="v", network="a"), "x:42"),
        (Requester(user_id=7, volunteer="v", network="a"), "u:7"),
        (Requester(volunteer="v", network="a"), "c:v"),
        (Requester(network="10.1.2.3"), "i:10.1.2.3"),
        (Requester(user_id=7, presenter=1), "u:7"),
        (Requester(external_uid=""), "x:"),
    ],
)
def test_a_volunteer_has_one_key(who, actor):
    assert who.actor == actor


@shows("caller-network")
@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("2600:3c00::f03c:91ff:fe24:1", "2600:3c00::"),
        ("2600:3c00::f03c:91ff:fe24:2", "2600:3c00::"),
        ("fe80::1%eth0", "fe80::"),
        ("/run/crowdd.sock", "127.0.0.1"),
    ],
)
def test_network_is_an_ipv4_address_or_an_ipv6_64(address, expected):
    assert network(address) == expected


@shows("caller-network")
def test_neighbouring_ipv6_networks_differ():
    assert network("2001:db8:1:2::1") != network("2001:db8:1:3::1")
