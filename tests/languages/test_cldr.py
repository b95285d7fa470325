"""Names and directions of languages are Babel's."""

from __future__ import annotations

import pytest

from crowdd.kernel.languages import FOLDER, NAMES
from crowdd.kernel.languages.content_languages import CONTENT_LANGUAGES, direction_of
from crowdd.kernel.languages.update import CLDR_FILE, cldr


def test_table_is_what_babel_says():
    assert CLDR_FILE.read_text("utf-8") == cldr(), "run: make i18n"
    assert {path.stem for path in FOLDER.glob("*.po")} < {*NAMES} <= {*CONTENT_LANGUAGES}


def test_language_is_named_in_its_own_words():
    assert (CONTENT_LANGUAGES["es"], CONTENT_LANGUAGES["pt-BR"]) == ("Español", "Português (Brasil)")
    assert CONTENT_LANGUAGES["zh-Hans"] == "简体中文"


@pytest.mark.parametrize(
    ("tag", "direction"),
    [
        ("en", "ltr"), ("ar", "rtl"), ("ar-EG", "rtl"), ("he", "rtl"), ("dv", "rtl"), ("zh-Hant-TW", "ltr"), ("xx", "ltr"),
        ("az", "ltr"), ("az-Arab", "rtl"), ("az-arab-IR", "rtl"), ("ks-Deva", "ltr"), ("ks-Deva-IN", "ltr"), ("", "ltr"),
    ],
)  # fmt: skip
def test_direction_follows_language_and_script(tag, direction):
    assert direction_of(tag) == direction
