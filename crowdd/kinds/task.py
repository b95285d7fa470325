"""Task: one question to answer (interface: task-fields)."""

from crowdd.kinds.kind import Field, Kind, Relation, Rights, Write
from crowdd.kinds.roles import EVERYONE, OWNERS, REVIEWERS, Role
from crowdd.kinds.types import Integer, Integers, Json, Number, Text, Timestamp

TASK = Kind(
    name="task",
    doc="A task is one question, which n_answers volunteers answer.",
    table="task",
    source="task_record",
    context=True,
    parents={"project": "project_id"},
    bulk=True,
    related={
        "task_runs": Relation("taskrun", "id", "task_id", maximum=1000),
        "result": Relation("result", "id", "task_id"),
    },
    rights=Rights(
        see=frozenset({Role.LISTED}) | OWNERS,
        get=frozenset({Role.UNLOCKED}) | REVIEWERS,
        create=OWNERS,
        update=OWNERS,
        delete=OWNERS,
    ),
    fields=(
        Field("id", Integer(), "Unique id.", read=EVERYONE, write=Write.RESERVED),
        Field("created", Timestamp(), "When it was created.", read=EVERYONE, write=Write.RESERVED),
        Field("project_id", Integer(), "Id of its project.", read=EVERYONE, write=Write.ONCE),
        Field("state", Text(), "ongoing or completed.", read=EVERYONE, write=Write.RESERVED),
        Field(
            "closed",
            Text(),
            "Why it needs no more answers: complete, retired (enough is known), cancelled, skipped, gold; null"
            " while it does.",
            read=EVERYONE,
            write=Write.COMPUTED,
            null=True,
        ),
        Field("retired_at", Timestamp(), "When an owner retired it.", read=OWNERS, write=Write.COMPUTED, null=True),
        Field(
            "retired_by", Integer(), "Id of the account that retired it.", read=OWNERS, write=Write.COMPUTED, null=True
        ),
        Field("retired_note", Text(), "Note from retiring it.", read=OWNERS, write=Write.COMPUTED, null=True),
        Field("info", Json(), "Data that the presenter shows.", read=EVERYONE, null=True, max_bytes=256_000),
        Field(
            "n_answers",
            Integer(minimum=1, maximum=10_000),
            "Number of answers that it needs (redundancy).",
            read=EVERYONE,
            default=30,
        ),
        Field("priority_0", Number(), "Tasks with a higher priority come first.", read=EVERYONE, default=0.0),
        Field("quorum", Integer(), "Stored for the owner; crowdd does not use it.", read=EVERYONE, default=0),
        Field("calibration", Integer(), "Whether it is a gold task. Stored for the owner.", read=OWNERS, default=0),
        Field(
            "fav_user_ids",
            Integers(),
            "Ids of the accounts that marked it as a favourite.",
            read=OWNERS,
            write=Write.RESERVED,
            null=True,
            search=False,
        ),
    ),
)
