"""The server's keys, and stand-ins for addresses."""

import ipaddress
from concurrent.futures import ThreadPoolExecutor

import pytest
from cryptography.exceptions import InvalidTag
from hypothesis import given, settings
from hypothesis import strategies as st
from support.first_encryption import encrypted_at_first

from crowdd.core import secrets
from crowdd.core.secrets import Secrets, place
from crowdd.kernel.errors import ConfigError

KEYS = Secrets(b"k" * 32)
OTHER = Secrets(b"o" * 32)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=50)


def test_the_file_is_for_its_owner_only_and_stays(tmp_path):
    first = secrets.load(tmp_path / "data")
    assert [p.name for p in (tmp_path / "data").iterdir()] == [secrets.CANDIDATE], "until its database has taken it"
    secrets.keep(tmp_path / "data", first)
    path = tmp_path / "data" / "secret.key"
    assert path.stat().st_mode & 0o777 == 0o600 and len(first.root) == 32
    assert secrets.load(tmp_path / "data") == first
    assert [p.name for p in path.parent.iterdir()] == ["secret.key"]
    assert secrets.load(tmp_path / "other") != first


def test_many_that_start_at_once_have_one_secret(tmp_path):
    with ThreadPoolExecutor(16) as threads:
        roots = list(threads.map(lambda _: secrets.load(tmp_path / "data").root, range(64)))
    assert len(set(roots)) == 1


@pytest.mark.parametrize("content", [b"", b"abc", b"zz" * 32, b"00" * 31, b"00" * 33, b"\xff" * 64])
def test_a_file_that_is_not_ours_is_never_replaced(tmp_path, content):
    (tmp_path / "secret.key").write_bytes(content)
    with pytest.raises(ConfigError, match="is not a valid key file"):
        secrets.load(tmp_path)
    assert (tmp_path / "secret.key").read_bytes() == content


def test_a_folder_that_cannot_be_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(ConfigError, match=r"\[data\] dir"):
        secrets.load(tmp_path / "file" / "data")


def test_nothing_secret_is_in_a_representation():
    assert "k" * 8 not in repr(KEYS) and b"k".hex() * 8 not in repr(KEYS)


@given(TEXTS, TEXTS)
def test_a_signature_is_good_for_its_text_and_purpose(text, other):
    signed = KEYS.sign("one", text)
    assert KEYS.verify("one", signed) == text
    assert KEYS.verify("two", signed) is None and OTHER.verify("one", signed) is None
    if other != text:
        assert KEYS.verify("one", f"{other}.{signed.rpartition('.')[2]}") is None


@given(st.text(max_size=80))
def test_what_nobody_signed_is_nothing(text):
    assert KEYS.verify("one", text) is None


@given(TEXTS)
def test_what_is_encrypted_is_opened_by_its_key_only_and_never_looks_the_same(text):
    encrypted = KEYS.encrypt(text, "here.x.1")
    assert KEYS.decrypt(encrypted, "here.x.1") == text and KEYS.encrypt(text, "here.x.1") != encrypted
    assert len(text) < 4 or text.encode() not in encrypted
    for spoilt in (encrypted[:-1] + bytes([encrypted[-1] ^ 1]), encrypted[1:] + b"x", encrypted[:20], b""):
        with pytest.raises(InvalidTag):
            KEYS.decrypt(spoilt, "here.x.1")
    for elsewhere in ("here.x.2", "here.y.1", "there.x.1", ""):
        with pytest.raises(InvalidTag):
            KEYS.decrypt(encrypted, elsewhere)
    with pytest.raises(InvalidTag):
        OTHER.decrypt(encrypted, "here.x.1")


@given(TEXTS)
def test_what_was_encrypted_without_a_place_still_opens(text):
    old = encrypted_at_first(KEYS, text)
    newer = Secrets(b"n" * 32, (KEYS.root,))
    assert KEYS.decrypt(old, "here.x.1") == newer.decrypt(old, "here.x.1") == text
    with pytest.raises(InvalidTag):
        OTHER.decrypt(old, "here.x.1")


def test_values_stay_bound_to_the_first_name_of_their_column():
    assert place("account", "api_key_encrypted", 1) == "account.api_key_sealed.1"
    assert place("one_time_link", "data", "x") == "one_time_link.data.x"


def test_the_first_key_encrypts_and_all_keys_open():
    newer = Secrets(b"n" * 32, (KEYS.root,))
    newest = Secrets(b"t" * 32, (b"n" * 32, KEYS.root))
    old, new = KEYS.encrypt("secret", "a.b.1"), newer.encrypt("secret", "a.b.1")
    assert new.startswith(newer.encryption_prefix) and not old.startswith(newer.encryption_prefix)
    assert newest.decrypt(old, "a.b.1") == newest.decrypt(new, "a.b.1") == newer.decrypt(old, "a.b.1") == "secret"
    with pytest.raises(InvalidTag):
        KEYS.decrypt(new, "a.b.1")
    with pytest.raises(InvalidTag):
        Secrets(b"t" * 32).decrypt(new, "a.b.1")


def test_look_ups_and_pseudonyms_stay_with_the_oldest_key():
    newer = Secrets(b"n" * 32, (KEYS.root,))
    assert newer.digest("api_key", "x") == KEYS.digest("api_key", "x") != Secrets(b"n" * 32).digest("api_key", "x")
    assert newer.pseudonym("192.0.2.1") == KEYS.pseudonym("192.0.2.1")


def test_the_first_key_signs_and_all_keys_verify():
    newer = Secrets(b"n" * 32, (KEYS.root,))
    assert newer.verify("one", KEYS.sign("one", "text")) == "text"
    assert newer.sign("one", "text") == Secrets(b"n" * 32).sign("one", "text")
    assert KEYS.verify("one", newer.sign("one", "text")) is None


def test_a_new_key_is_put_before_the_others(tmp_path):
    first = secrets.load(tmp_path)
    secrets.keep(tmp_path, first)
    added = secrets.add(tmp_path)
    assert added == secrets.load(tmp_path) and added.older == (first.root,) and added.root != first.root
    path = tmp_path / "secret.key"
    assert path.stat().st_mode & 0o777 == 0o600 and len(path.read_text().splitlines()) == 2
    assert [p.name for p in tmp_path.iterdir()] == ["secret.key"]
    path.write_text(path.read_text() + "not a key\n")
    with pytest.raises(ConfigError, match="is not a valid key file"):
        secrets.add(tmp_path)


def shared_prefix(one, two):
    """How many first bits two addresses have in common."""
    return one.max_prefixlen - (int(one) ^ int(two)).bit_length()


@given(st.data(), st.sampled_from([st.ip_addresses(v=4), st.ip_addresses(v=6)]))
@settings(max_examples=150)
def test_a_pseudonym_keeps_exactly_the_shared_prefix(data, addresses):
    one = data.draw(addresses)
    bit = data.draw(st.integers(0, one.max_prefixlen - 1))
    below = data.draw(st.integers(0, 2 ** (one.max_prefixlen - bit - 1) - 1))
    two = type(one)(int(one) ^ (1 << (one.max_prefixlen - bit - 1)) ^ below)
    if two.version == 6 and (one.ipv4_mapped or two.ipv4_mapped):
        return
    first, second = (ipaddress.ip_address(KEYS.pseudonym(str(each))) for each in (one, two))
    assert first.version == second.version == one.version
    assert shared_prefix(first, second) == shared_prefix(one, two) == bit


def test_a_pseudonym_is_the_same_each_time_and_another_for_another_server():
    address = "192.0.2.1"
    assert KEYS.pseudonym(address) == Secrets(b"k" * 32).pseudonym(address) != address
    assert OTHER.pseudonym(address) != KEYS.pseudonym(address)
    assert KEYS.pseudonym("::ffff:192.0.2.1") == KEYS.pseudonym(address)
    assert KEYS.pseudonym("fe80::1%eth0") == KEYS.pseudonym("fe80::1")


def test_tokens_cannot_be_guessed():
    made = {secrets.token() for _ in range(100)}
    assert len(made) == 100 and all(len(token) == 43 for token in made)
