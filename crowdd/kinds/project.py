"""Project: a question with its tasks, presenter and owners (interface: project-fields)."""

from functools import partial

from crowdd.kinds.kind import Field, Kind, Rights, Write
from crowdd.kinds.roles import ADMINS, EVERYONE, KEYHOLDERS, OWNERS, Role
from crowdd.kinds.types import Boolean, Integer, Integers, JsonObject, Number, ShortName, Text, Timestamp

figure = partial(Field, read=OWNERS, write=Write.COMPUTED, null=True, search=False)

PROJECT = Kind(
    name="project",
    doc="A project owns tasks, which volunteers answer.",
    table="project",
    source="project_record",
    context=True,
    beside={"stats": "projectstats"},
    public_info=frozenset(
        {"container", "thumbnail", "thumbnail_url", "task_presenter", "tutorial", "results", "sched", "lease_seconds"}
        | {"language", "counted_per_network", "max_answer_bytes", "answer_key"}
    ),
    pictures=("info.thumbnail_url",),
    reduced=("last_activity", "last_activity_raw", "n_tasks", "n_volunteers", "overall_progress", "owner"),
    rights=Rights(
        see=frozenset({Role.LISTED}) | OWNERS,
        get=frozenset({Role.UNLOCKED}) | OWNERS,
        create=frozenset({Role.SIGNED_IN}),
        update=OWNERS,
        delete=ADMINS | {Role.CREATOR},
    ),
    fields=(
        Field("id", Integer(), "Its number.", read=EVERYONE, write=Write.RESERVED),
        Field("created", Timestamp(), "When it was created.", read=EVERYONE, write=Write.RESERVED),
        Field("updated", Timestamp(), "When it was last changed.", read=EVERYONE, write=Write.RESERVED),
        Field("name", Text(maximum=255, minimum=1), "Its name, unique.", read=EVERYONE),
        Field("short_name", ShortName(), "The name that stands in addresses, unique.", read=EVERYONE, default=""),
        Field("description", Text(maximum=255), "One sentence about it.", read=EVERYONE, default=""),
        Field(
            "long_description",
            Text(maximum=50_000),
            "The whole story, in Markdown.",
            read=EVERYONE,
            default="",
            heading=3,
        ),
        Field(
            "info",
            JsonObject(),
            "Free-form: task_presenter, tutorial, results, sched, lease_seconds, counted_per_network, language,"
            " answer_key, answers_when_complete, token_per_volunteer, thumbnail …",
            read=EVERYONE,
            default=dict,
            max_bytes=1_000_000,
            max_key_bytes={"task_presenter": 1_000_000, "tutorial": 1_000_000, "results": 1_000_000},
        ),
        Field("owner_id", Integer(), "The account that owns it.", read=EVERYONE, write=Write.RESERVED),
        Field(
            "owners_ids", Integers(), "The owner and the co-owners.", read=EVERYONE, write=Write.RESERVED, search=False
        ),
        Field("category_id", Integer(), "Its category; the first one unless given.", read=EVERYONE, null=True),
        Field("published", Boolean(), "False: a draft, or paused.", read=EVERYONE, write=Write.RESERVED),
        Field(
            "featured", Boolean(), "Shown first; set by administrators.", read=EVERYONE, default=False, writers=ADMINS
        ),
        Field(
            "allow_anonymous_contributors",
            Boolean(),
            "Whether volunteers need an account.",
            read=EVERYONE,
            default=True,
        ),
        Field("zip_download", Boolean(), "Whether everybody may download the answers.", read=OWNERS, default=True),
        Field("contacted", Boolean(), "The owner was warned about inactivity.", read=OWNERS, write=Write.RESERVED),
        Field(
            "webhook",
            Text(maximum=2000),
            "Address that is told of completed tasks.",
            read=OWNERS,
            null=True,
            search=False,
        ),
        Field("secret_key", Text(), "Key for external users.", read=KEYHOLDERS, write=Write.RESERVED, encrypted=True),
        Field(
            "contrib_button",
            Text(),
            "What the requester can do here.",
            read=EVERYONE,
            write=Write.COMPUTED,
            search=False,
        ),
        Field("n_blogposts", Integer(), "Blog posts so far.", read=EVERYONE, write=Write.COMPUTED, search=False),
        Field(
            "n_results", Integer(), "Results whose info is filled.", read=EVERYONE, write=Write.COMPUTED, search=False
        ),
        figure("n_completed_tasks", Integer(), "Tasks with all their answers."),
        figure("n_task_runs", Integer(), "Answers so far."),
        figure("n_tasks", Integer(), "Tasks."),
        figure("n_volunteers", Integer(), "People who answered."),
        figure("overall_progress", Number(), "Counted answers of those wanted, in per cent."),
        figure("last_activity", Text(), "The time of the last answer in words."),
        figure("last_activity_raw", Timestamp(), "The time of the last answer."),
        figure("owner", Text(), "Full name of the owner, or the user name while privacy_mode is on."),
    ),
)
