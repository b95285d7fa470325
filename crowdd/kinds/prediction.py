"""Prediction: what a model says to a question of a task (interface: prediction-fields)."""

from crowdd.kinds.kind import Field, Kind, Rights, Write
from crowdd.kinds.questions.suggest import MAX_MODEL
from crowdd.kinds.roles import EVERYONE, NOBODY, OWNERS
from crowdd.kinds.types import Integer, Json, Number, Text, Timestamp

PREDICTION = Kind(
    name="prediction",
    doc="A prediction is what a version of a model says to a question of a task. It never counts as an answer.",
    table="prediction",
    source="prediction",
    context=True,
    parents={"project": "project_id", "task": "task_id"},
    bulk=True,
    methods=frozenset({"GET", "POST", "DELETE"}),
    rights=Rights(see=OWNERS, get=OWNERS, create=OWNERS, update=NOBODY, delete=OWNERS),
    fields=(
        Field("id", Integer(), "Unique id.", read=EVERYONE, write=Write.RESERVED),
        Field("created", Timestamp(), "When it was first sent with this value.", read=EVERYONE, write=Write.RESERVED),
        Field("project_id", Integer(), "Id of its project.", read=EVERYONE, write=Write.ONCE),
        Field("task_id", Integer(), "Id of its task.", read=EVERYONE, write=Write.ONCE),
        Field("model", Text(maximum=MAX_MODEL, minimum=1), "Name of the model.", read=EVERYONE, write=Write.ONCE),
        Field("version", Text(maximum=MAX_MODEL), "Version of the model.", read=EVERYONE, write=Write.ONCE, default=""),
        Field("question", Text(maximum=100, minimum=1), "Name of the question.", read=EVERYONE, write=Write.ONCE),
        Field(
            "value",
            Json(),
            "What the model says, in the form of an answer to the question.",
            read=EVERYONE,
            write=Write.ONCE,
            null=True,
            max_bytes=256_000,
        ),
        Field(
            "probability",
            Number(minimum=0, maximum=1),
            "How probable the model says it is that this is right.",
            read=EVERYONE,
            write=Write.ONCE,
            null=True,
        ),
    ),
)
