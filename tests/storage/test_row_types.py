"""Row types have the columns of the kinds and statements that they stand for."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from support.checks.row_types import columns, complaints
from support.checks.row_types import converted as checked

from crowdd.features.accounts.rows import AccountPage, PersonRow, Session
from crowdd.features.projects.rows import CategoryRow, ProjectName, ProjectPage, ProjectRow
from crowdd.features.results.rows import ResultRow
from crowdd.features.tasks.rows import ListedRun, TaskRunRow
from crowdd.kinds.category import CATEGORY
from crowdd.kinds.kind import Kind
from crowdd.kinds.project import PROJECT
from crowdd.kinds.result import RESULT
from crowdd.kinds.task_run import TASK_RUN
from crowdd.kinds.user import USER


def of_kind(kind: Kind) -> set[str]:
    """The columns that ``storage.core.records`` selects of a kind."""
    return {f"{field.name}_encrypted" if field.encrypted else field.name for field in kind.fields}


@pytest.mark.parametrize(
    ("kind", "row", "without"),
    [
        (PROJECT, ProjectRow, set()),
        (TASK_RUN, TaskRunRow, set()),
        (RESULT, ResultRow, {"info", "consensus", "reason", "confidence", "model", "posterior"}),
        (CATEGORY, CategoryRow, set()),
        (USER, PersonRow, set()),
    ],
)
def test_the_row_type_of_a_kind_has_its_columns(kind, row, without):
    assert set(columns(row)) == of_kind(kind) - without


@pytest.mark.parametrize(
    ("page", "kind", "more"),
    [
        (
            ProjectPage,
            PROJECT,
            {"roles", "first_published", "lock_id", "draft_key", "has_gold", "translation", "translated"},
        ),
        (AccountPage, USER, {"score", "n_answers", "rank", "total", "has_password", "access_version", "mail_returned"}),
    ],
)
def test_the_row_of_a_page_adds_what_its_statement_adds(page, kind, more):
    assert set(columns(page)) == of_kind(kind) | more


def test_a_row_of_an_answer_keeps_the_columns_of_its_kind():
    assert of_kind(TASK_RUN) < set(columns(ListedRun))


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ({"id": 1, "name": "Birds"}, "the statement does not give short_name."),
        (
            {"id": 1, "name": "Birds", "short_name": "birds", "n": 2},
            "the statement gives n, which the type does not have.",
        ),
        ({"id": "1", "name": "Birds", "short_name": "birds"}, "id is '1' (str), not <class 'int'>."),
        ({"id": True, "name": "Birds", "short_name": "birds"}, "id is True (bool), not <class 'int'>."),
    ],
)
def test_a_row_that_differs_from_its_type_is_refused_in_tests(row, complaint):
    assert list(complaints(ProjectName, row)) == [complaint]
    with pytest.raises(AssertionError, match="ProjectName"):
        checked(ProjectName, [row])


def test_an_attrs_class_is_made_from_the_columns():
    now = datetime.now(UTC)
    row = {"id": 1, "token_hash": memoryview(b"h"), "created": now, "last_seen": now, "expires": now}
    (session,) = checked(Session, [{**row, "agent": "", "address": ""}])
    assert session.token_hash == b"h"
