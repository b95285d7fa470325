"""Every language has its words, and they fit the places where they are said."""

from __future__ import annotations

import ast
import re
from functools import cache
from ipaddress import ip_address
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

from crowdd import PACKAGE
from crowdd.core.outbound.url_policy import require_public
from crowdd.kernel.errors import RefusedTargetError
from crowdd.kernel.languages import FOLDER, NAMES, Languages, Sentence, _, joined, ngettext
from crowdd.kernel.languages.update import marked, missing, renewed

TRANSLATED = sorted({*NAMES} - {"en"})
# How many sentences of the code a catalogue lacks. A change may count its own here; none is left at a release.
UNTRANSLATED = 0
every_language = pytest.mark.parametrize("code", TRANSLATED)


@cache
def in_code() -> list[str | tuple[str, ...]]:
    return marked()


@cache
def messages(code: str):
    with (FOLDER / f"{code}.po").open("rb") as lines:
        return [message for message in read_po(lines, locale=code) if message.id]


def test_there_is_a_catalogue_for_each_language_but_the_first():
    assert sorted(path.stem for path in FOLDER.glob("*.po")) == TRANSLATED
    assert Languages.read().names == NAMES


@every_language
def test_so_many_sentences_fall_back_to_english(code: str):
    lacking = missing(FOLDER / f"{code}.po", in_code())
    assert len(lacking) <= UNTRANSLATED, f"make i18n, then translate: {lacking}"


def test_what_is_said_in_english_for_want_of_words_is_counted():
    languages = Languages.read()
    assert languages.missing_translations() == {}, "nothing is read before somebody asks"
    assert languages.say(_("Sign in"), "de") != "Sign in"
    assert languages.say(_("Nobody translated this: %(name)s.", name="Ada"), "de") == "Nobody translated this: Ada."
    assert languages.say(ngettext("One lost", "%(num)s lost", 3), "de") == "3 lost"
    assert languages.say(_("Nobody translated this."), "en") == "Nobody translated this."
    assert languages.missing_translations() == {"de": 2}


@every_language
def test_a_translation_has_the_values_and_tags_of_its_sentence(code: str):
    def holes(text: str) -> list[str]:
        return sorted({*re.findall(r"%\(\w+\)s|%%|\{\w+\}|</?\w+>", text)})

    wrong = []
    for message in messages(code):
        plural = isinstance(message.id, list | tuple)
        wanted = holes(message.id[-1] if plural else message.id)
        for string in message.string if plural else (message.string,):
            few = set(holes(string)) <= set(wanted) if plural else holes(string) == wanted
            if string and not few:
                wrong.append((message.id, string))
    assert wrong == []


@every_language
def test_no_translation_says_everything_twice(code: str):
    strings = [
        string for one in messages(code) for string in (one.string if isinstance(one.string, tuple) else [one.string])
    ]
    halves = [(string[: len(string) // 2], string[len(string) // 2 :]) for string in strings if len(string) > 20]
    assert [first for first, second in halves if first.strip() == second.strip()] == []


def test_volunteers_have_one_word_in_french():
    assert [one.id for one in messages("fr") if "bénévole" in str(one.string).lower()] == []


@every_language
def test_a_plural_has_every_form_of_its_language(code: str):
    forms = {"ar": 6, "de": 2, "es": 2, "fr": 2}[code]
    short = [message.id for message in messages(code) if isinstance(message.id, tuple) and len(message.string) != forms]
    assert short == []


def test_words_are_said_with_their_values_in_each_language():
    languages = Languages.read()
    sentence = _("%(share)s done", share="7 %")
    assert (sentence, isinstance(sentence, Sentence)) == ("7 % done", True)
    assert languages.say(sentence, "de") == "7 % fertig"
    assert languages.say(sentence, "xx") == "7 % done" == languages.say(sentence, "en")
    answers = [
        languages.say(ngettext("%(count)s answer", "%(count)s answers", n, count=n), "ar") for n in (0, 1, 2, 3, 11)
    ]
    assert len({*answers}) == 5


def test_a_sentence_within_a_sentence_is_said_in_the_same_language():
    address = ip_address("::ffff:10.0.0.1")  # Python writes it in one way or the other
    with pytest.raises(RefusedTargetError) as refused:
        require_public(address)
    (sentence,) = refused.value.args
    assert sentence == f"{address} is 10.0.0.1 in another form, a private address. Use a public address."
    german = Languages.read().say(_("Could not reach %(provider)s: %(reason)s", provider="X", reason=sentence), "de")
    assert german == (
        f"X ist nicht erreichbar: {address} ist 10.0.0.1 in anderer Schreibweise, eine private Adresse. "
        "Verwende eine öffentliche Adresse."
    )


def test_sentences_one_after_the_other_are_said_in_the_same_language():
    words = joined(_("Their answers count from now on."), _("Please sign up again."), "Plain")
    assert words == "Their answers count from now on. Please sign up again. Plain"
    german = Languages.read().say(words, "de")
    assert german == "Ihre Antworten zählen ab jetzt. Bitte registriere dich noch einmal. Plain"


def test_no_sentence_is_marked_within_an_f_string():
    """Babel does not find it there before Python 3.12, and what is put together is English."""
    within = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.JoinedStr):
                calls = [each.func for each in ast.walk(node) if isinstance(each, ast.Call)]
                if any(isinstance(called, ast.Name) and called.id in ("_", "ngettext") for called in calls):
                    within.append(f"{path.name}:{node.lineno}")
    assert within == []


def test_what_a_catalogue_lacks_is_english(tmp_path: Path):
    (tmp_path / "de.po").write_text('msgid "Projects"\nmsgstr "Projekte"\n\n#, fuzzy\nmsgid "Help"\nmsgstr "Rettung"\n')
    languages = Languages.read(tmp_path)
    assert [languages.say(words, "de") for words in ("Projects", "Help", "Never said", "")] == [
        "Projekte",
        "Help",
        "Never said",
        "",
    ]
    assert languages.names == {"en": "English", "de": "Deutsch"}


def test_renewing_keeps_translations_and_drops_words_that_nobody_says(tmp_path: Path):
    path = tmp_path / "de.po"
    path.write_text('msgid "Projects"\nmsgstr "Projekte"\n\nmsgid "Gone"\nmsgstr "Weg"\n')
    made = {message.id: message.string for message in renewed(path, ["New", "Projects"]) if message.id}
    assert made == {"New": "", "Projects": "Projekte"}
    assert missing(path, ["New", "Projects", ("one", "many")]) == ["New", ("one", "many")]
