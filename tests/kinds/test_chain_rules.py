"""Rules of chains: what they may say, and where a mistake is."""

from __future__ import annotations

import jsonschema
import pytest

from crowdd.kernel.errors import InvalidValueError
from crowdd.kinds.chains import ChainRule, Condition, Crop, Each, RuleType, read_rule

FULL = {
    "each": {"field": "lines", "label": "text"},
    "when": [
        {"field": "kind", "is": ["letter", 2, True]},
        {"field": "kind", "is_not": ["empty"]},
        {"field": "lines", "agreement_below": 0.7},
    ],
    "columns": {"picture": "page"},
    "answers": {"kind": "sort"},
    "crop": {"column": "picture", "to": "line"},
    "n_answers": 3,
}


def test_a_rule_is_read_and_written_alike():
    rule = read_rule(FULL)
    assert rule == ChainRule(
        Each("lines", "text"),
        (
            Condition("kind", "is", ("letter", 2, True)),
            Condition("kind", "is_not", ("empty",)),
            Condition("lines", "agreement_below", below=0.7),
        ),
        {"picture": "page"},
        {"kind": "sort"},
        Crop("picture", "line"),
        3,
    )
    assert rule.as_json() == FULL and rule.fields() == {"lines", "kind"}
    assert read_rule({}).as_json() == {"columns": {}, "answers": {}}
    assert read_rule({"each": None, "when": None, "crop": None, "n_answers": None}) == ChainRule()
    jsonschema.validate(FULL, RuleType().schema())


@pytest.mark.parametrize(
    ("wrong", "place"),
    [
        ([], ""),
        ({"more": 1}, ""),
        ({"each": "lines"}, "/each"),
        ({"each": {"field": ""}}, "/each/field"),
        ({"each": {"field": "a", "label": 7}}, "/each/label"),
        ({"each": {"field": "a", "more": 7}}, "/each"),
        ({"when": {}}, "/when"),
        ({"when": [{"field": "a", "is": ["x"]}] * 6}, "/when"),
        ({"when": [{"field": "a"}]}, "/when/0"),
        ({"when": [{"field": "a", "is": ["x"], "is_not": ["y"]}]}, "/when/0"),
        ({"when": [{"field": "a", "is": ["x"]}, {"field": "a", "is": []}]}, "/when/1/is"),
        ({"when": [{"field": "a", "is": [None]}]}, "/when/0/is"),
        ({"when": [{"is": ["x"]}]}, "/when/0/field"),
        ({"when": [{"field": "a", "agreement_below": 0}]}, "/when/0/agreement_below"),
        ({"when": [{"field": "a", "agreement_below": True}]}, "/when/0/agreement_below"),
        ({"columns": ["picture"]}, "/columns"),
        ({"columns": {"a/b": 1}}, "/columns/a~1b"),
        ({"columns": {str(n): str(n) for n in range(51)}}, "/columns"),
        ({"answers": {"a": "x" * 201}}, "/answers/a"),
        ({"each": {"field": "a"}, "crop": {"column": "picture"}}, "/crop/to"),
        ({"n_answers": 0}, "/n_answers"),
        ({"n_answers": "3"}, "/n_answers"),
        ({"n_answers": 10_001}, "/n_answers"),
    ],
)
def test_a_mistake_is_told_with_its_place(wrong, place):
    with pytest.raises(InvalidValueError, match=f"^`rule{place}`: "):
        read_rule(wrong)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, RuleType().schema())


@pytest.mark.parametrize(
    "wrong",
    [
        {"columns": {"a": "x"}, "answers": {"b": "x"}},
        {"each": {"field": "lines"}, "columns": {"left": "x"}},
        {"each": {"field": "lines"}, "columns": {"a": "b"}, "crop": {"column": "a", "to": "b"}},
        {"crop": {"column": "a", "to": "b"}},
    ],
)
def test_two_things_do_not_go_into_one_column_and_a_crop_needs_marks(wrong):
    with pytest.raises(InvalidValueError, match=r"^`rule") as caught:
        read_rule(wrong)
    alone = "each" not in wrong and "crop" in wrong
    assert caught.value.code == ("invalid_value" if alone else "repeated_column")
    assert jsonschema.Draft202012Validator(RuleType().schema()).is_valid(wrong) != alone, "columns are not compared"


def test_a_body_has_a_rule_of_clean_texts():
    assert RuleType().parse_at({**FULL, "n_answers": 3.0}, "rule") == read_rule(FULL)
    for wrong, words in (
        ([], "must be an object"),
        ({"columns": {"a": "\ud800"}}, "contains a NUL or a lone surrogate"),
    ):
        with pytest.raises(InvalidValueError, match=f"^`rule` {words}"):
            RuleType().parse_at(wrong, "rule")
