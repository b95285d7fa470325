"""From a row of a table to a task: what each column becomes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from crowdd.domain.transfer.task_files.dialect import TABLES
from crowdd.errors import CrowddError, InvalidValueError
from crowdd.kinds.task import TASK
from crowdd.languages import _
from crowdd.values import Values

ATTRIBUTES = ("n_answers", "priority_0", "quorum")
GOLD = "gold"  # the right answer to a task, which makes it a gold task
USES = ("info", *ATTRIBUTES, GOLD, "whole", "skip")
"""What a column may become: a key of info, an attribute of the task, its right answer, info itself, or nothing."""
_GOLD_COLUMNS = ("gold", "gold_answers")
MAX_KEY_CHARACTERS = 500
_INFO = TASK.field("info")
_REPEATED = frozenset({str, int, float, bool})


def usual(format_: str, columns: list[str]) -> dict[str, str]:
    """What columns become unless somebody says otherwise, as PyBossa has it.

    The state is the server's to know. Of two columns with right answers the first of _GOLD_COLUMNS counts, and neither
    stays in the task. In JSON, ``info`` is the task's whole info where no other key would be lost.
    """
    uses = {name: "skip" if name == "state" else name if name in ATTRIBUTES else "info" for name in columns}
    gold = [name for name in _GOLD_COLUMNS if name in columns]
    if len(columns) > len(gold):
        uses.update(zip(gold, (GOLD, "skip"), strict=False))
    others = [name for name, use in uses.items() if use == "info" and name != "info"]
    if format_ not in TABLES and "info" in uses and not others:
        uses["info"] = "whole"
    return uses


def checked(uses: object, columns: list[str]) -> dict[str, str]:
    """The uses of all columns. Raises InvalidValueError for two that become the same, and for what nobody knows."""
    if not isinstance(uses, Mapping):
        raise InvalidValueError(_("`uses` must be an object."))
    chosen = {name: uses.get(name, "info") for name in columns}
    for name, use in chosen.items():
        if use not in USES:
            words = _(
                "%(name)s cannot be used as %(use)s. Possible uses: %(uses)s.",
                name=name[:100],
                use=str(use)[:100],
                uses=", ".join(USES),
            )
            raise InvalidValueError(words)
    single = [use for use in chosen.values() if use not in ("info", "skip")]
    twice = next((use for use in single if single.count(use) > 1), None)
    if twice is not None:
        raise InvalidValueError(_("Only one column can be used as %(use)s.", use=twice))
    if "whole" in single and "info" in chosen.values():
        raise InvalidValueError(_("If one column is the entire task data, no other column can be task data."))
    if not any(use in ("info", "whole") for use in chosen.values()):
        raise InvalidValueError(_("A task would be empty. Keep at least one column."))
    return chosen


def require_key(key: str | None, uses: Mapping[str, str]) -> None:
    """Raises InvalidValueError for a key column by which no task could be found: it has to be kept as task data."""
    if key is not None and uses.get(key) != "info" and "whole" not in uses.values():
        raise InvalidValueError(_("The key column %(name)s must be kept as task data.", name=key[:100]))


def key_of(info: object, name: str) -> str:
    """The value by which a row is found again. Raises InvalidValueError where it has none."""
    value = info.get(name) if isinstance(info, Mapping) else None
    if value in ("", None):
        raise InvalidValueError(_("The key column %(name)s is empty in this row.", name=name[:100]))
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InvalidValueError(_("The key column %(name)s must contain text or a whole number.", name=name[:100]))
    text = value if isinstance(value, str) else str(value)
    if len(text) > MAX_KEY_CHARACTERS:
        words = _("The key is longer than %(max)s characters.", max=MAX_KEY_CHARACTERS)
        raise InvalidValueError(words)
    return text


def task_of(values: Mapping[str, object], uses: Mapping[str, str], n_answers: int | None = None) -> dict[str, Any]:
    """The values of a new task (info, n_answers, priority_0, quorum, calibration) for a row.

    ``given`` names the attributes that the row has itself; ``n_answers`` is for rows that have none. ``gold`` is there
    if the row has the right answer. A column that was not there when the file was read first is kept in info. Raises
    InvalidValueError.
    """
    info: Any = {}
    given: Values = {}
    gold: Values = {}
    whole = False
    for name, value in values.items():
        use = uses.get(name, "info")
        if use == "whole":
            info, whole = value, True
        elif use == "info" and not whole:
            info[name] = value
        elif use in ATTRIBUTES and value not in ("", None):
            given[use] = value
        elif use == GOLD and value not in ("", None):
            gold = {GOLD: value}
    return {**new_task(info, given, n_answers), **gold}


def new_task(info: object, given: Mapping[str, object], n_answers: int | None = None) -> dict[str, Any]:
    """The values of a task with these attributes, the others as usual; ``given`` has the names. InvalidValueError."""
    known = tuple((name, type(value), value) for name, value in given.items())
    try:
        clean = _INFO.parse(info)
        made = (
            _attributes(known, n_answers)
            if _REPEATED.issuperset(map(type, given.values()))
            else _made(given, n_answers)
        )
    except CrowddError as error:
        raise InvalidValueError(f"{error}") from None
    return {**made, "info": clean, "given": list(given)}


@lru_cache(maxsize=1000)  # most rows of a file have the same few
def _attributes(given: tuple[tuple[str, type, object], ...], n_answers: int | None) -> Values:
    return _made({name: value for name, _type, value in given}, n_answers)


def _made(given: Mapping[str, object], n_answers: int | None) -> Values:
    """The attributes of a task without its info."""
    usual_ = {} if n_answers is None else {"n_answers": n_answers}
    made = TASK.creation({"project_id": 0, **usual_, **given})
    del made["project_id"], made["info"]
    return made
