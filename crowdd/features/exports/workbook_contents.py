"""What is in a workbook: the order of its columns, and its sheets about the questions and the columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import attrs

from crowdd.features.exports.column_statements import Column
from crowdd.features.exports.formats import ExportFile
from crowdd.features.exports.question_headings import wording
from crowdd.features.exports.statements import Table
from crowdd.features.exports.workbooks import SmallSheet
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values
from crowdd.kinds.exported import CONSENSUS, EVENT, VOLUNTEER
from crowdd.kinds.prediction import PREDICTION
from crowdd.kinds.questions.types import TYPES
from crowdd.kinds.result import RESULT
from crowdd.kinds.task import TASK
from crowdd.kinds.task_run import TASK_RUN

_LEFT_OUT: Final = frozenset({"project_id"})  # the same in each row
_FIRST: Final = ("id", "task_id")
_OF_TASK: Final = "task_info_"
_SAID: Final = ("info", "consensus_")


def name_of(file: ExportFile) -> str:
    """The name of the sheet with the rows of a file."""
    names = {
        RESULT.name: _("Results"),
        TASK_RUN.name: _("Answers"),
        TASK.name: _("Tasks"),
        CONSENSUS.name: _("Consensus"),
        VOLUNTEER.name: _("Volunteers"),
        EVENT.name: _("Events"),
        PREDICTION.name: _("Predictions"),
    }
    return names[file.kind.name]


def arranged(file: ExportFile, table: Table) -> Table:
    """The table as people read it: which row, what of the task, what was answered, then the rest."""
    columns = [_shown(file, column) for column in table.columns if column.name not in _LEFT_OUT]
    return attrs.evolve(table, columns=sorted(columns, key=_place))


def _place(column: Column) -> int:
    if column.name in _FIRST:
        return 0
    if column.name.startswith(_OF_TASK):
        return 1
    return 2 if column.name.startswith(_SAID) else 3


def _shown(file: ExportFile, column: Column) -> Column:
    """A column with links, where it has what owners bring, and with dates."""
    if column.type != "text":
        return column
    if column.name.startswith(_OF_TASK) or (file.kind is TASK and column.name.startswith("info_")):
        return attrs.evolve(column, shown="link")
    question = file.questions.get(column.name.removeprefix("info_")) if column.name.startswith("info_") else None
    return attrs.evolve(column, shown="day") if question and question["type"] == "date" else column


def questions(file: ExportFile) -> SmallSheet:
    """What was asked: a row for each question, and one for each of its choices."""
    heading = [_("Question"), _("Name"), _("Type"), _("Choice"), _("Value")]
    return SmallSheet(_("Questions"), [heading, *(row for each in file.questions.values() for row in _rows_of(each))])


def _rows_of(question: Values) -> Iterator[list[str]]:
    kind = TYPES.get(question["type"])
    yield [wording(question), question["name"], str(kind.label) if kind else question["type"], "", ""]
    names = ("rows", "columns", kind.choices if kind else "")
    for name in dict.fromkeys(names):
        for choice in question.get(name) or []:
            if isinstance(choice, dict):
                yield [
                    wording(question),
                    question["name"],
                    "",
                    str(choice.get("text") or choice["value"]),
                    str(choice["value"]),
                ]


def columns(sheets: Sequence[tuple[str, Table]]) -> SmallSheet:
    """What each column is."""
    heading = [_("Sheet"), _("Column"), _("Name"), _("Meaning"), _("Type"), _("Origin")]
    rows = (
        [name, each.heading, each.name, each.about, each.type, each.origin]
        for name, table in sheets
        for each in table.columns
    )
    return SmallSheet(_("Columns"), [heading, *rows])
