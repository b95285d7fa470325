"""Blog post: what owners tell about their project (interface: blogpost-fields)."""

from crowdd.kinds.kind import Field, Kind, Rights, Write
from crowdd.kinds.roles import ADMINS, EVERYONE, OWNERS, Role
from crowdd.kinds.types import Boolean, Integer, JsonObject, PictureAddress, Text, Timestamp

AUTHORS = ADMINS | {Role.AUTHOR}

BLOGPOST = Kind(
    name="blogpost",
    doc="A blog post of a project.",
    table="blogpost",
    source="blogpost",
    context=True,
    parents={"project": "project_id"},
    files=True,
    pictures=("media_url",),
    rights=Rights(
        see=OWNERS | {Role.SHOWN},
        get=OWNERS | {Role.SHOWN},
        create=ADMINS | {Role.CREATOR},
        update=AUTHORS,
        delete=AUTHORS,
    ),
    fields=(
        Field("id", Integer(), "Unique id.", read=EVERYONE, write=Write.RESERVED),
        Field("created", Timestamp(), "When it was created.", read=EVERYONE, write=Write.RESERVED),
        Field("updated", Timestamp(), "When it was last changed.", read=EVERYONE, write=Write.RESERVED),
        Field("project_id", Integer(), "Id of its project.", read=EVERYONE, write=Write.ONCE),
        Field("user_id", Integer(), "Id of the author's account.", read=EVERYONE, write=Write.RESERVED, null=True),
        Field("title", Text(maximum=255, minimum=1), "Title.", read=EVERYONE),
        Field("body", Text(maximum=50_000, minimum=1), "Text, in Markdown.", read=EVERYONE, heading=2),
        Field("info", JsonObject(), "Free-form.", read=EVERYONE, default=dict, max_bytes=64_000),
        Field("media_url", PictureAddress(), "Address of the picture.", read=EVERYONE, null=True),
        Field("published", Boolean(), "Whether everybody can see it, or only owners.", read=EVERYONE, default=False),
    ),
)
