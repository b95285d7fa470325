"""Project statistics: the figures of a project (interface: projectstats-fields)."""

from functools import partial

from crowdd.kinds.kind import Field, Kind, Rights, Write
from crowdd.kinds.roles import EVERYONE, NOBODY, OWNERS, Role
from crowdd.kinds.types import Integer, JsonObject, Number, Timestamp

count = partial(Field, read=EVERYONE, write=Write.COMPUTED, search=False)

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
        count("n_tasks", Integer(), "Tasks."),
        count("n_task_runs", Integer(), "Answers."),
        count("n_results", Integer(), "Results whose info is filled."),
        count("n_volunteers", Integer(), "People who answered."),
        count("n_completed_tasks", Integer(), "Tasks with all their answers."),
        count("overall_progress", Integer(), "Counted answers of those wanted, in per cent."),
        count("average_time", Number(), "Seconds from handing out to answer, on average."),
        count("n_blogposts", Integer(), "Blog posts."),
        count("last_activity", Timestamp(), "The time of the last answer.", null=True),
        count(
            "info",
            JsonObject(),
            "With full: hours_stats, dates_stats and users_stats of the last two weeks, else empty.",
        ),
    ),
)
