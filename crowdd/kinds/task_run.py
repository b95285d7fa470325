"""Task run: one answer of one volunteer (interface: taskrun-fields)."""

from crowdd.kinds.circumstances import Circumstances
from crowdd.kinds.kind import Field, Kind, Relation, Rights, Write
from crowdd.kinds.roles import EVERYONE, OWNERS, REVIEWERS, Role
from crowdd.kinds.types import Integer, Json, Number, Text, Timestamp

MAX_ANSWER_BYTES = 256_000
"""Bytes of ``info`` of an answer, unless the project raises it in ``info.max_answer_bytes``."""
MAX_RAISED_BYTES = 2_000_000
"""How far a project may raise it."""
MAX_KEY_CHARACTERS = 200
"""Characters of the key of ``info`` by which a project compares its answers (``info.answer_key``)."""

TASK_RUN = Kind(
    name="taskrun",
    doc="A task run is one volunteer's answer to one task.",
    table="task_run",
    source="task_run_record",
    reduced=("user_ip", "external_uid"),
    context=True,
    parents={"task": "task_id", "project": "project_id"},
    bulk=True,
    related={"task": Relation("task", "task_id", "id"), "result": Relation("result", "task_id", "task_id")},
    rights=Rights(
        see=frozenset({Role.ANSWERS_LISTED, Role.AUTHOR}) | REVIEWERS,
        get=frozenset({Role.ANSWERS_UNLOCKED, Role.AUTHOR}) | REVIEWERS,
        create=frozenset({Role.ANYBODY}),  # the lease decides
        update=frozenset({Role.AUTHOR, Role.ADMIN}),
        delete=frozenset({Role.AUTHOR, Role.OWNER, Role.ADMIN}),
    ),
    fields=(
        Field("id", Integer(), "Unique id.", read=EVERYONE, write=Write.RESERVED),
        Field("task_id", Integer(), "Id of its task.", read=EVERYONE, write=Write.ONCE),
        Field("project_id", Integer(), "Id of its project.", read=EVERYONE, write=Write.ONCE),
        Field(
            "user_id",
            Integer(),
            "Id of the account that answered; null for other volunteers.",
            read=EVERYONE,
            write=Write.STAMPED,
            null=True,
        ),
        Field(
            "user_ip",
            Text(),
            "Pseudonym of an anonymous volunteer's network in this project and year. null for everybody but owners.",
            read=OWNERS,
            write=Write.STAMPED,
            null=True,
        ),
        Field(
            "external_uid",
            Text(maximum=255, minimum=1),
            "Id of an external user. Everybody but owners and the author sees a pseudonym.",
            read=OWNERS | {Role.AUTHOR},
            write=Write.ONCE,
            null=True,
            masked=True,
        ),
        Field(
            "volunteer",
            Text(),
            "Volunteer code: random, and the same for all answers of one volunteer in this project.",
            read=EVERYONE,
            write=Write.COMPUTED,
            null=True,
        ),
        Field(
            "info",
            Json(),
            "The answer. At most 256 kB and 1,000 marks, unless its project allows more.",
            read=EVERYONE,
            null=True,
            max_bytes=MAX_RAISED_BYTES,
        ),
        Field("created", Timestamp(), "When the task was assigned.", read=EVERYONE, write=Write.RESERVED),
        Field("finish_time", Timestamp(), "When the answer was stored.", read=EVERYONE, write=Write.RESERVED),
        Field(
            "calibration",
            Integer(),
            "For use by clients. Owners read 1 for an answer to a gold task.",
            read=EVERYONE,
            null=True,
        ),
        Field(
            "timeout",
            Number(),
            "Seconds after the lease expired; null if the answer was in time.",
            read=EVERYONE,
            write=Write.STAMPED,
            null=True,
        ),
        Field(
            "media_url",
            Text(maximum=2000),
            "Address of a file sent with the answer.",
            read=EVERYONE,
            write=Write.STAMPED,
            null=True,
        ),
        Field(
            "circumstances",
            Circumstances(),
            max_bytes=50_000,
            doc="How the answer was given, as the volunteer's page tells it. For owners only.",
            read=OWNERS,
            write=Write.ONCE,
            null=True,
            search=False,
        ),
    ),
)
