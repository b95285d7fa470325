"""Announcement: a message from the administrators to everybody (interface: announcement-fields)."""

from crowdd.kinds.kind import Field, Kind, Rights, Write
from crowdd.kinds.roles import ADMINS, EVERYONE, Role
from crowdd.kinds.types import Boolean, Integer, JsonObject, PictureAddress, Text, Timestamp

ANNOUNCEMENT = Kind(
    name="announcement",
    doc="An announcement of the site.",
    table="announcement",
    source="announcement",
    files=True,
    pictures=("media_url",),
    rights=Rights(see=ADMINS | {Role.SHOWN}, get=ADMINS | {Role.SHOWN}, create=ADMINS, update=ADMINS, delete=ADMINS),
    fields=(
        Field("id", Integer(), "Unique id.", read=EVERYONE, write=Write.RESERVED),
        Field("created", Timestamp(), "When it was created.", read=EVERYONE, write=Write.RESERVED),
        Field("updated", Timestamp(), "When it was last changed.", read=EVERYONE, write=Write.RESERVED),
        Field("user_id", Integer(), "Id of the author's account.", read=EVERYONE, write=Write.RESERVED, null=True),
        Field("title", Text(maximum=255, minimum=1), "Title.", read=EVERYONE),
        Field("body", Text(maximum=50_000, minimum=1), "Text, in Markdown.", read=EVERYONE, heading=3),
        Field("info", JsonObject(), "Free-form.", read=EVERYONE, default=dict, max_bytes=64_000),
        Field("media_url", PictureAddress(), "Address of the picture.", read=EVERYONE, null=True),
        Field(
            "published", Boolean(), "Whether everybody can see it, or only administrators.", read=EVERYONE, default=True
        ),
    ),
)
