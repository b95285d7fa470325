"""The columns of tasks that a list of questions shows."""

from __future__ import annotations

from crowdd.kinds.questions.suggest import SUGGEST_KEYS


def columns_of(document: object) -> list[str]:
    """The columns that sources, descriptions and suggestions name, each once, in order.

    None for what is no list of questions.
    """
    return list(dict.fromkeys(_named(document)))


def _named(value: object) -> list[str]:
    if isinstance(value, list):
        return [name for each in value for name in _named(each)]
    if not isinstance(value, dict):
        return []
    if {"column"} <= value.keys() <= SUGGEST_KEYS and isinstance(value["column"], str):
        return [value["column"]]
    return [name for each in value.values() for name in _named(each)]
