"""Adds tasks in batches: each row once, whatever happens on the way."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, Literal

from crowdd_client.batches import Batch, batches
from crowdd_client.errors import CrowddError, InvalidValueError, ResumeError, TooManyRefusedError
from crowdd_client.journal import Journal
from crowdd_client.progress import with_bar
from crowdd_client.task_rows import count_of, rows_of
from crowdd_client.transport import Transport
from crowdd_client.upload_report import Refused, UploadReport

ROWS = 500  # rows of a batch
MAX_REFUSED = 1000
_TOO_LARGE = 413
_Piece = list[tuple[int, bytes]]


class Uploader:
    """Adds tasks to one project."""

    def __init__(
        self, transport: Transport, project_id: int, n_answers: int | None, max_rows: int, max_refused: int
    ) -> None:
        if max_rows < 1:
            raise ValueError(f"A batch must have at least one row (got {max_rows}).")
        self._transport, self._project_id, self._n_answers = transport, project_id, n_answers
        self._max_rows, self._max_refused = max_rows, max_refused

    def upload(
        self, source: Any, path: Path | None, uncertain: Literal["", "added", "send"], *, progress: bool = False
    ) -> UploadReport:
        """Adds a task for each row (``Project.add_tasks``)."""
        journal = Journal(path, {"site": self._transport.site, "project": self._project_id, "batch": self._max_rows})
        rows = with_bar(rows_of(source), "tasks", count_of(source)) if progress else rows_of(source)
        report, number = UploadReport(), -1
        for batch in batches(rows, self._project_id, self._n_answers, self._max_rows):
            number = batch.number
            done = journal.outcome(batch) or self._uploaded(batch, journal, uncertain, report)
            report.added += done.added
            report.refused += done.refused
            self._require_few(report, 0)
        if journal.batches > number + 1:
            raise ResumeError(f"{path} is about more rows than there are now. Upload the same rows in the same order.")
        return report

    def _uploaded(self, batch: Batch, journal: Journal, uncertain: str, so_far: UploadReport) -> UploadReport:
        if journal.is_uncertain(batch):
            if not uncertain:
                raise ResumeError(
                    f"Rows {batch.first} to {batch.last} were sent more than 23 hours ago, and it is unclear whether"
                    " they were added. Look for them in the project. Then continue with uncertain='added' if they"
                    " were, or uncertain='send' if not."
                )
            if uncertain == "added":
                done = UploadReport(len(batch.bodies), list(batch.refused))
                journal.end(batch, done)
                return done
        journal.begin(batch)
        done = self._sent(batch, journal.run, so_far)
        journal.end(batch, done)
        return done

    def _sent(self, batch: Batch, run: str, so_far: UploadReport) -> UploadReport:
        """Sends a batch, again without each row that is refused."""
        done = UploadReport(0, list(batch.refused))
        pieces: list[_Piece] = [batch.bodies]
        while pieces:
            piece = pieces.pop()
            if not piece:
                continue
            try:
                self._send(piece, f"{run}-{batch.number}")
            except InvalidValueError as error:
                rest, refused = _without_cause(piece, error)
                pieces += rest
                done.refused += refused
                self._require_few(so_far, len(done.refused))
            else:
                done.added += len(piece)
        done.refused.sort(key=lambda each: each.row)
        return done

    def _send(self, piece: _Piece, name: str) -> None:
        content = b"[" + b",".join(body for _, body in piece) + b"]"
        # The same rows at the same place have the same key: what the server has added already is not added again.
        key = f"{name}-{piece[0][0]}-{hashlib.sha256(content).hexdigest()[:32]}"
        made = self._transport.send("POST", "/api/task", None, content, key)
        if not isinstance(made, list) or len(made) != len(piece):
            raise CrowddError("The server did not return the tasks that were sent.")

    def _require_few(self, report: UploadReport, more: int) -> None:
        refused = len(report.refused) + more
        if refused > self._max_refused:
            message = f"More than {self._max_refused:,} rows were refused. {report}."
            raise TooManyRefusedError(message, report)


def _without_cause(piece: _Piece, error: InvalidValueError) -> tuple[list[_Piece], list[Refused]]:
    """What is left to be sent of a piece that was refused, and the row that was the cause.

    Raises the error where no row is.
    """
    at = error.item
    if at is None and error.status == _TOO_LARGE:
        if len(piece) > 1:
            half = len(piece) // 2
            return [piece[half:], piece[:half]], []
        at = 0
    if at is None or not 0 <= at < len(piece):
        raise error
    reason = str(error).removeprefix(f"item {at}: ")
    return [piece[:at] + piece[at + 1 :]], [Refused(piece[at][0], reason, error.error_code)]
