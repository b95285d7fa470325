"""Project statistics: the figures of a project (interface: projectstats-fields)."""

from functools import partial

from crowdd.kinds.kind import Field, Kind, Rights, Write
from crowdd.kinds.roles import EVERYONE, NOBODY, OWNERS, Role
from crowdd.kinds.types import Integer, JsonObject, Number, Timestamp

count = partial(Field, read=EVERYONE, write=Write.COMPUTED, search=False)

PROJECT_STATISTICS = Kind(
    name="projectstats",
    doc="The current figures of a project.",
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
        Field("id", Integer(), "Id of the project.", read=EVERYONE, write=Write.COMPUTED),
        Field("project_id", Integer(), "Same as id.", read=EVERYONE, write=Write.COMPUTED),
        count("n_tasks", Integer(), "Tasks."),
        count("n_task_runs", Integer(), "Answers."),
        count("n_results", Integer(), "Number of results with info."),
        count("n_volunteers", Integer(), "Number of volunteers who answered."),
        count("n_completed_tasks", Integer(), "Number of completed tasks."),
        count("overall_progress", Integer(), "Counted answers as a percentage of those needed."),
        count("average_time", Number(), "Average seconds from assignment to answer."),
        count("n_blogposts", Integer(), "Blog posts."),
        count("last_activity", Timestamp(), "Time of the last answer.", null=True),
        count(
            "info",
            JsonObject(),
            "With full=1: hours_stats, dates_stats and users_stats of the last two weeks. Otherwise empty.",
        ),
    ),
)
