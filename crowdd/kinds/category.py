"""Category: a group of projects (interface: category-fields)."""

from crowdd.kinds.kind import Field, Kind, Rights, Write
from crowdd.kinds.roles import ADMINS, EVERYONE
from crowdd.kinds.types import Integer, JsonObject, ShortName, Text, Timestamp

CATEGORY = Kind(
    name="category",
    doc="A category holds projects of a subject.",
    table="category",
    source="category",
    rights=Rights(see=EVERYONE, get=EVERYONE, create=ADMINS, update=ADMINS, delete=ADMINS),
    fields=(
        Field("id", Integer(), "Its number.", read=EVERYONE, write=Write.RESERVED),
        Field("created", Timestamp(), "When it was created.", read=EVERYONE, write=Write.RESERVED),
        Field("name", Text(maximum=255, minimum=1), "Its name, unique.", read=EVERYONE),
        Field("short_name", ShortName(), "The name that stands in addresses, unique.", read=EVERYONE),
        Field("description", Text(maximum=10_000), "One sentence about it.", read=EVERYONE, default=""),
        Field("info", JsonObject(), "Free-form.", read=EVERYONE, default=dict, max_bytes=16_000),
    ),
)
