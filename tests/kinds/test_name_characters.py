"""Characters of names: what people write stays, what nobody sees is refused by name."""

import pytest

from crowdd.kinds import names


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("王芳", "王芳"), ("이준", "이준"), ("Bo", "Bo"), ("É", "É"), ("O’Neill, Jr. (retired) & co.", None), ("A · B", None), ("½ ™ № 5", None),
        ("Bees 🧑\u200d🌾 ❤\ufe0f 👩🏽\u200d🔬 🏳\ufe0f\u200d🌈", None), ("می\u200cخواهم", None), ("محـمد", None), ("क\u094d\u200dष", None),
        ("  a \u3000\u00a0 b ", "a b"), ("e\u0301", "é"), ("ＡＢ", None),
    ],
)  # fmt: skip
def test_what_people_write_is_a_name(text, stored):
    assert names.free(text) == (text if stored is None else stored)
    assert names.cleaned(text) == names.free(text)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Mara\u200b", "U+200B ZERO WIDTH SPACE"), ("Mara\u202e", "U+202E RIGHT-TO-LEFT OVERRIDE"), ("\u200b", "U+200B"), ("Ma\u00adra", "U+00AD"),
        ("Mara\ufe0f", "U+FE0F"), ("M\u200dara", "U+200D"), ("Mara\u200c", "U+200C"), ("\u2800", "U+2800"),
        ("\U000e0041", "U+E0041"), ("Ma\nra", "U+000A"), ("Ma\u2028ra", "U+2028"), ("\ufeffMara", "U+FEFF"),
    ],
)  # fmt: skip
def test_an_invisible_character_is_refused_by_its_number(text, number):
    for parse in (names.free, names.in_address):
        with pytest.raises(names.UnusableNameError, match="contains the invisible character") as refused:
            parse(text)
        assert f"Delete the invisible character {number}" in refused.value.sentence
        assert number in str(refused.value) and str(refused.value).endswith(". Delete it")
    assert names.free(names.cleaned(f"x{text}")) == names.cleaned(f"x{text}")


def test_a_joiner_that_joins_nothing_is_refused():
    with pytest.raises(names.UnusableNameError, match="U\\+200D"):
        names.free("🐦\u200d")


@pytest.mark.parametrize(
    ("text", "words"),
    [("\ue000", "not all devices"), ("\u0378", "not all devices"), ("\u3164", "HANGUL FILLER"), ("\u1160", "HANGUL")],
)
def test_a_character_that_is_none_or_shows_nothing_is_refused(text, words):
    with pytest.raises(names.UnusableNameError) as refused:
        names.free(f"a{text}")
    assert words in refused.value.sentence


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("ada", "ada"),
        ("Ｍara", "Mara"),
        ("j.o-e_1", None),
        ("naïve", None),
        ("דנה_כהן", None),
        ("王芳", None),
        ("e\u0301a", "éa"),
        ("ｶﾞ", "ガ"),
    ],
)
def test_a_name_in_addresses_has_letters_digits_and_signs_of_ascii(text, stored):
    assert names.in_address(text) == (text if stored is None else stored)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("mara★", "Use letters and digits instead of ★ (U+2605 BLACK STAR)."),
        ("ma–ra", "Use letters and digits instead of – (U+2013 EN DASH)."),
        ("ﬁ", "Use letters and digits instead of ﬁ (U+FB01 LATIN SMALL LIGATURE FI)."),
        ("ada_דנה", "Use either letters that are written from left to right, or letters that are written from right to left."),
    ],
)  # fmt: skip
def test_other_characters_in_an_address_are_refused_with_what_to_do(text, sentence):
    with pytest.raises(names.UnusableNameError) as refused:
        names.in_address(text)
    assert refused.value.sentence == sentence
