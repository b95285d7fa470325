"""What leaves in files beside the kinds of ``/api``: consensus by field, volunteers, events. None of it is written."""

from __future__ import annotations

from crowdd.kinds.kind import Field, Kind, Rights, Write
from crowdd.kinds.result import RESULT
from crowdd.kinds.roles import EVERYONE, NOBODY, OWNERS
from crowdd.kinds.task_run import TASK_RUN
from crowdd.kinds.types import Integer, Json, Number, Text, Timestamp, Type


def _computed(name: str, type_: Type, doc: str) -> Field:
    return Field(name, type_, doc, read=EVERYONE, write=Write.COMPUTED, null=True)


def _read_only(name: str, doc: str, source: str, rights: Rights, *fields: Field) -> Kind:
    return Kind(
        name=name,
        doc=doc,
        table=source,
        source=source,
        rights=Rights(rights.see, rights.get, NOBODY, NOBODY, NOBODY),
        fields=fields,
        methods=frozenset(),
        linked=False,
    )


CONSENSUS = _read_only(
    "consensus",
    "What the counted answers to a completed task say together at one answer field.",
    "consensus_export",
    RESULT.rights,
    _computed("task_id", Integer(), "Id of the task."),
    _computed("result_id", Integer(), "Id of its last result."),
    _computed("created", Timestamp(), "When the result was made."),
    _computed("field", Text(), "Name of the answer field."),
    _computed("value", Json(), "What most answers say, or what is made of all of them; null without a consensus."),
    _computed("answers", Integer(), "Number of answers that could be compared."),
    _computed("agreement", Number(), "How much two of the answers are alike, on average, from 0 to 1."),
    _computed(
        "confidence",
        Number(),
        "How far the answers support the value, from 0 to 1; null of what the model says, until it is measured.",
    ),
    _computed("model", Number(), "How probable the model of the volunteers says the value is. Nobody has measured it."),
    _computed("reason", Text(), "Why the task was complete; null without a label."),
)
VOLUNTEER = _read_only(
    "volunteer",
    "A volunteer of the project by the code of their answers.",
    "task_run",
    TASK_RUN.rights,
    _computed("volunteer", Text(), "Volunteer code, as in their answers in this project."),
    _computed("task_runs", Integer(), "Number of their answers."),
    _computed("counted", Integer(), "Number of their answers that count."),
    _computed("first", Timestamp(), "When their first answer was stored."),
    _computed("last", Timestamp(), "When their last answer was stored."),
    _computed("seconds", Number(), "Seconds that they spent on their answers."),
)
EVENT = _read_only(
    "event",
    "Something that happened in the project, as webhooks are told.",
    "event_export",
    Rights(OWNERS, OWNERS, NOBODY, NOBODY, NOBODY),
    _computed("sequence", Integer(), "Number of the event in the project, without gaps."),
    _computed("event", Text(), "Kind of event."),
    _computed("fired_at", Timestamp(), "When it happened."),
    _computed("task_id", Integer(), "Id of the task."),
    _computed("result_id", Integer(), "Id of the result."),
    _computed("data", Json(), "What belongs to this kind of event."),
)
