"""Announcement: what the people of the site tell everybody (interface, Announcement)."""

from crowdd.kinds.kind import ADMINS, Field, Kind, Rights, Standing, Write
from crowdd.kinds.types import Boolean, Integer, JsonObject, Text, Timestamp

ANNOUNCEMENT = Kind(
    name="announcement",
    doc="An announcement of the site.",
    table="announcement",
    source="announcement",
    files=True,
    rights=Rights(
        see=ADMINS | {Standing.SHOWN}, get=ADMINS | {Standing.SHOWN}, create=ADMINS, update=ADMINS, delete=ADMINS
    ),
    fields=(
        Field("id", Integer(), "Its number.", write=Write.RESERVED),
        Field("created", Timestamp(), "When it was created.", write=Write.RESERVED),
        Field("updated", Timestamp(), "When it was last changed.", write=Write.RESERVED),
        Field("user_id", Integer(), "Its author.", write=Write.RESERVED, null=True),
        Field("title", Text(most=255, least=1), "Its title."),
        Field("body", Text(least=1), "What it says, in Markdown."),
        Field("info", JsonObject(), "Free-form.", default=dict),
        Field("media_url", Text(most=2000), "Address of its picture.", null=True),
        Field("published", Boolean(), "Whether others than administrators see it.", default=True),
    ),
)
