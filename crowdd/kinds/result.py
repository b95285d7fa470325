"""Result: the counted answers of a completed task (interface: result-fields)."""

from crowdd.kinds.kind import Field, Kind, Relation, Rights, Write
from crowdd.kinds.roles import EVERYONE, NOBODY, OWNERS, REVIEWERS, Role
from crowdd.kinds.types import Boolean, Integer, Integers, Json, Number, Text, Timestamp

RESULT = Kind(
    name="result",
    doc="A result lists the counted answers of a completed task. The project's owners fill in info.",
    table="result",
    source="result_record",
    context=True,
    parents={"project": "project_id", "task": "task_id"},
    related={
        "task": Relation("task", "task_id", "id"),
        "task_runs": Relation("taskrun", "task_id", "task_id", maximum=1000),
    },
    rights=Rights(
        see=frozenset({Role.ANSWERS_LISTED}) | REVIEWERS,
        get=frozenset({Role.ANSWERS_UNLOCKED}) | REVIEWERS,
        create=NOBODY,
        update=OWNERS,
        delete=NOBODY,
    ),
    fields=(
        Field("id", Integer(), "Unique id.", read=EVERYONE, write=Write.RESERVED),
        Field("created", Timestamp(), "When the task was completed.", read=EVERYONE, write=Write.RESERVED),
        Field("project_id", Integer(), "Id of its project.", read=EVERYONE, write=Write.RESERVED),
        Field("task_id", Integer(), "Id of its task.", read=EVERYONE, write=Write.RESERVED),
        Field(
            "task_run_ids", Integers(), "Ids of the counted answers.", read=EVERYONE, write=Write.RESERVED, search=False
        ),
        Field(
            "last_version",
            Boolean(),
            "False if a later result of the task replaced it.",
            read=EVERYONE,
            write=Write.RESERVED,
        ),
        Field(
            "consensus",
            Json(),
            "What the counted answers say together, by the names of the answer fields.",
            read=EVERYONE,
            write=Write.COMPUTED,
            null=True,
            search=False,
        ),
        Field(
            "reason",
            Text(),
            "Why the task was complete: sure, full, none (no answer fits), expert or analysis; or null.",
            read=EVERYONE,
            write=Write.COMPUTED,
            null=True,
            search=False,
        ),
        Field(
            "confidence",
            Number(),
            "How many of the results of which the model says as much are right, by a random sample; null until that is"
            " measured. Without a label, the share of the answers with the value of the first answer field.",
            read=EVERYONE,
            write=Write.COMPUTED,
            null=True,
            search=False,
        ),
        Field(
            "model",
            Number(),
            "How probable the model of the volunteers says the choice of the first answer field is; not measured.",
            read=EVERYONE,
            write=Write.COMPUTED,
            null=True,
            search=False,
        ),
        Field(
            "posterior",
            Json(),
            "The probability of each choice, if the first answer field is a label or has several of them.",
            read=EVERYONE,
            write=Write.COMPUTED,
            null=True,
            search=False,
        ),
        Field(
            "info", Json(), "What the owners conclude from the answers.", read=EVERYONE, null=True, max_bytes=256_000
        ),
    ),
)
