"""Blog post: what owners tell about their project (interface, Resources)."""

from crowdd.kinds.kind import ADMINS, OWNERS, Field, Kind, Rights, Standing, Write
from crowdd.kinds.types import Boolean, Integer, JsonObject, Text, Timestamp

AUTHORS = ADMINS | {Standing.AUTHOR}

BLOGPOST = Kind(
    name="blogpost",
    doc="A blog post of a project.",
    table="blogpost",
    source="blogpost",
    context=True,
    parents={"project": "project_id"},
    files=True,
    rights=Rights(
        see=OWNERS | {Standing.SHOWN},
        get=OWNERS | {Standing.SHOWN},
        create=ADMINS | {Standing.CREATOR},
        update=AUTHORS,
        delete=AUTHORS,
    ),
    fields=(
        Field("id", Integer(), "Its number.", write=Write.RESERVED),
        Field("created", Timestamp(), "When it was created.", write=Write.RESERVED),
        Field("updated", Timestamp(), "When it was last changed.", write=Write.RESERVED),
        Field("project_id", Integer(), "Its project.", write=Write.ONCE),
        Field("user_id", Integer(), "Its author.", write=Write.RESERVED, null=True),
        Field("title", Text(most=255, least=1), "Its title."),
        Field("body", Text(least=1), "What it says, in Markdown."),
        Field("info", JsonObject(), "Free-form.", default=dict),
        Field("media_url", Text(most=2000), "Address of its picture.", null=True),
        Field("published", Boolean(), "Whether others than the owners see it.", default=False),
    ),
)
