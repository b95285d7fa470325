"""From a row of a file to a task: what each column becomes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crowdd.errors import CrowddError, InvalidValueError
from crowdd.kinds import TASK
from crowdd.languages import _

ATTRIBUTES = ("n_answers", "priority_0", "calibration", "quorum")
USES = ("info", *ATTRIBUTES, "whole", "skip")
"""What a column may become: a key of info, an attribute of the task, info itself, or nothing."""


def usual(format_: str, columns: list[str]) -> dict[str, str]:
    """What columns become unless somebody says otherwise, as the incumbent has it.

    The state is the server's to know. In JSON, ``info`` is the task's whole info where no other key would be lost.
    """
    uses = {name: "skip" if name == "state" else name if name in ATTRIBUTES else "info" for name in columns}
    others = [name for name, use in uses.items() if use == "info" and name != "info"]
    if format_ != "csv" and "info" in uses and not others:
        uses["info"] = "whole"
    return uses


def checked(uses: Any, columns: list[str]) -> dict[str, str]:
    """The uses of all columns. Raises InvalidValueError for two that become the same, and for what nobody knows."""
    if not isinstance(uses, Mapping):
        raise InvalidValueError(_("The uses of columns are no object."))
    found = {name: uses.get(name, "info") for name in columns}
    for name, use in found.items():
        if use not in USES:
            words = _(
                "%(name)s cannot become %(use)s, only %(uses)s.",
                name=name[:100],
                use=str(use)[:100],
                uses=", ".join(USES),
            )
            raise InvalidValueError(words)
    chosen = [use for use in found.values() if use not in ("info", "skip")]
    twice = next((use for use in chosen if chosen.count(use) > 1), None)
    if twice is not None:
        raise InvalidValueError(_("Two columns cannot both become %(use)s.", use=twice))
    if "whole" in chosen and "info" in found.values():
        raise InvalidValueError(_("Where one column is the whole info, others cannot be keys of it."))
    if not any(use in ("info", "whole") for use in found.values()):
        raise InvalidValueError(_("A task would hold nothing: keep at least one column."))
    return found


def task_of(values: Mapping[str, Any], uses: Mapping[str, str]) -> dict[str, Any]:
    """The values of a new task (info, n_answers, priority_0, quorum, calibration) for a row.

    A column that was not there when the file was looked at is kept in info. Raises InvalidValueError.
    """
    info: Any = {}
    body: dict[str, Any] = {"project_id": 0}
    whole = False
    for name, value in values.items():
        use = uses.get(name, "info")
        if use == "whole":
            info, whole = value, True
        elif use == "info" and not whole:
            info[name] = value
        elif use in ATTRIBUTES and value not in ("", None):
            body[use] = value
    try:
        made = TASK.creation({**body, "info": info})
    except CrowddError as error:
        raise InvalidValueError(f"{error}") from None
    del made["project_id"]
    return made
