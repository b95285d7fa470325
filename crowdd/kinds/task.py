"""Task: one question to answer (interface: task-fields)."""

from crowdd.kinds.kind import Field, Kind, Relation, Rights, Write
from crowdd.kinds.roles import EVERYONE, OWNERS, Role
from crowdd.kinds.types import Integer, Integers, Json, Number, Text, Timestamp

TASK = Kind(
    name="task",
    doc="A task is one question; n_answers volunteers answer it.",
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
        get=frozenset({Role.UNLOCKED}) | OWNERS,
        create=OWNERS,
        update=OWNERS,
        delete=OWNERS,
    ),
    fields=(
        Field("id", Integer(), "Its number.", read=EVERYONE, write=Write.RESERVED),
        Field("created", Timestamp(), "When it was created.", read=EVERYONE, write=Write.RESERVED),
        Field("project_id", Integer(), "Its project.", read=EVERYONE, write=Write.ONCE),
        Field("state", Text(), "ongoing, or completed.", read=EVERYONE, write=Write.RESERVED),
        Field(
            "closed",
            Text(),
            "Why it wants no more answers: complete, retired (enough is known) or cancelled; null while it does.",
            read=EVERYONE,
            write=Write.COMPUTED,
            null=True,
        ),
        Field("retired_at", Timestamp(), "When its owner took it out.", read=OWNERS, write=Write.COMPUTED, null=True),
        Field("retired_by", Integer(), "Who took it out.", read=OWNERS, write=Write.COMPUTED, null=True),
        Field("retired_note", Text(), "What was said of it then.", read=OWNERS, write=Write.COMPUTED, null=True),
        Field("info", Json(), "What the presenter shows.", read=EVERYONE, null=True, max_bytes=256_000),
        Field(
            "n_answers",
            Integer(minimum=1, maximum=10_000),
            "How many answers it needs (redundancy).",
            read=EVERYONE,
            default=30,
        ),
        Field("priority_0", Number(), "Higher comes first.", read=EVERYONE, default=0.0),
        Field("quorum", Integer(), "Stored for the owner, never used.", read=EVERYONE, default=0),
        Field("calibration", Integer(), "Marks gold tasks; stored for the owner.", read=OWNERS, default=0),
        Field(
            "fav_user_ids",
            Integers(),
            "Who marked it as a favourite.",
            read=OWNERS,
            write=Write.RESERVED,
            null=True,
            search=False,
        ),
    ),
)
