"""Project statistics: the figures of a project (interface: projectstats-fields)."""

from typing import Any

from crowdd.kinds.kind import EVERYONE, NOBODY, OWNERS, Field, Kind, Rights, Role, Write
from crowdd.kinds.types import Integer, JsonObject, Number, Timestamp

COUNT: dict[str, Any] = {"read": EVERYONE, "write": Write.COMPUTED, "search": False}

PROJECT_STATISTICS = Kind(
    name="projectstats",
    doc="The figures of a project, true at this moment.",
    table="projectstats_record",
    source="projectstats_record",
    parents={"project": "project_id"},
    methods=frozenset({"GET"}),
    rights=Rights(
        see=frozenset({Role.LISTED}) | OWNERS,
        get=frozenset({Role.UNLOCKED}) | OWNERS,
        create=NOBODY,
        update=NOBODY,
        delete=NOBODY,
    ),
    fields=(
        Field("id", Integer(), "The number of the project.", read=EVERYONE, write=Write.COMPUTED),
        Field("project_id", Integer(), "The same.", read=EVERYONE, write=Write.COMPUTED),
        Field("n_tasks", Integer(), "Tasks.", **COUNT),
        Field("n_task_runs", Integer(), "Answers.", **COUNT),
        Field("n_results", Integer(), "Results whose info is filled.", **COUNT),
        Field("n_volunteers", Integer(), "People who answered.", **COUNT),
        Field("n_completed_tasks", Integer(), "Tasks with all their answers.", **COUNT),
        Field("overall_progress", Integer(), "Counted answers of those wanted, in per cent.", **COUNT),
        Field("average_time", Number(), "Seconds from handing out to answer, on average.", **COUNT),
        Field("n_blogposts", Integer(), "Blog posts.", **COUNT),
        Field("last_activity", Timestamp(), "The time of the last answer.", null=True, **COUNT),
        Field(
            "info",
            JsonObject(),
            "With full: hours_stats, dates_stats and users_stats of the last two weeks, else empty.",
            **COUNT,
        ),
    ),
)
