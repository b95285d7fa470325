"""Project: a question with its tasks, presenter and owners (interface: project-fields)."""

from functools import partial

from crowdd.kinds.guides import GUIDES
from crowdd.kinds.kind import Field, Kind, Rights, Write
from crowdd.kinds.questions.format import MAX_BYTES, QUESTIONS
from crowdd.kinds.roles import ADMINS, EVERYONE, HELPERS, KEYHOLDERS, OWNERS, Role
from crowdd.kinds.types import Boolean, Integer, Integers, JsonObject, Name, Number, ShortName, Text, Timestamp

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
        | {"language", "counted_per_network", "counted_per_group", "max_answer_bytes", "max_marks", "answer_key"}
        | {"answer_files", "papers"}
        | {"questions", "questions_version", "answers"}
        | {guide.version_key for guide in GUIDES}
    ),
    pictures=("info.thumbnail_url",),
    reduced=("last_activity", "last_activity_raw", "n_tasks", "n_volunteers", "overall_progress", "owner"),
    rights=Rights(
        see=frozenset({Role.LISTED}) | OWNERS,
        get=frozenset({Role.UNLOCKED}) | HELPERS,
        create=frozenset({Role.SIGNED_IN}),
        update=OWNERS,
        delete=ADMINS | {Role.CREATOR},
    ),
    fields=(
        Field("id", Integer(), "Unique id.", read=EVERYONE, write=Write.RESERVED),
        Field("created", Timestamp(), "When it was created.", read=EVERYONE, write=Write.RESERVED),
        Field("updated", Timestamp(), "When it was last changed.", read=EVERYONE, write=Write.RESERVED),
        Field("name", Name(), "Unique name.", read=EVERYONE),
        Field("short_name", ShortName(), "Unique name in addresses.", read=EVERYONE, default=""),
        Field("description", Text(maximum=255), "Description in one sentence.", read=EVERYONE, default=""),
        Field(
            "long_description",
            Text(maximum=50_000),
            "Long description, in Markdown.",
            read=EVERYONE,
            default="",
            heading=3,
        ),
        Field(
            "info",
            JsonObject(),
            "Free-form: task_presenter, questions, tutorial, guided_tutorial, field_guide, results, sched,"
            " lease_seconds, counted_per_network, counted_per_group, language, answer_key, answers_when_complete,"
            " token_per_volunteer, thumbnail, column_roles, dataset, papers, gold_rate, gold_start, gold_feedback,"
            " show_accuracy, shared_comments …",
            read=EVERYONE,
            default=dict,
            max_bytes=1_000_000,
            max_key_bytes={"task_presenter": 1_000_000, "tutorial": 1_000_000, "results": 1_000_000}
            | {QUESTIONS: MAX_BYTES, "answers": 2 * MAX_BYTES}
            | {guide.name: guide.max_bytes for guide in GUIDES},
        ),
        Field("owner_id", Integer(), "Id of the account that owns it.", read=EVERYONE, write=Write.RESERVED),
        Field(
            "owners_ids",
            Integers(),
            "Ids of the owner and the co-owners.",
            read=EVERYONE,
            write=Write.RESERVED,
            search=False,
        ),
        Field("category_id", Integer(), "Id of its category (default: the first one).", read=EVERYONE, null=True),
        Field(
            "published",
            Boolean(),
            "Whether volunteers can find and answer it; false for drafts and paused projects.",
            read=EVERYONE,
            write=Write.RESERVED,
        ),
        Field("featured", Boolean(), "Whether it is shown first.", read=EVERYONE, default=False, writers=ADMINS),
        Field(
            "allow_anonymous_contributors",
            Boolean(),
            "Whether volunteers need an account.",
            read=EVERYONE,
            default=True,
        ),
        Field("zip_download", Boolean(), "Whether everybody may download the answers.", read=OWNERS, default=True),
        Field(
            "contacted", Boolean(), "Whether the owner was warned about inactivity.", read=OWNERS, write=Write.RESERVED
        ),
        Field(
            "webhook",
            Text(maximum=2000),
            "Address that is notified of completed tasks.",
            read=OWNERS,
            null=True,
            search=False,
        ),
        Field(
            "secret_key",
            Text(),
            "Key that signs in external users.",
            read=KEYHOLDERS,
            write=Write.RESERVED,
            encrypted=True,
        ),
        Field(
            "contrib_button",
            Text(),
            "What the requester may do in this project.",
            read=EVERYONE,
            write=Write.COMPUTED,
            search=False,
        ),
        Field("n_blogposts", Integer(), "Number of blog posts.", read=EVERYONE, write=Write.COMPUTED, search=False),
        Field(
            "n_results", Integer(), "Number of results with info.", read=EVERYONE, write=Write.COMPUTED, search=False
        ),
        figure("n_completed_tasks", Integer(), "Number of completed tasks."),
        figure("n_task_runs", Integer(), "Number of answers."),
        figure("n_tasks", Integer(), "Tasks."),
        figure("n_volunteers", Integer(), "Number of volunteers who answered."),
        figure("overall_progress", Number(), "Counted answers as a percentage of those needed."),
        figure("last_activity", Text(), "Time of the last answer, in words."),
        figure("last_activity_raw", Timestamp(), "Time of the last answer."),
        figure("owner", Text(), "Full name of the owner, or the user name if privacy_mode is on."),
    ),
)
