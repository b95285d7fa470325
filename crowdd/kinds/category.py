"""Category: a group of projects (interface: category-fields)."""

from crowdd.kinds.kind import Field, Kind, Rights, Write
from crowdd.kinds.roles import ADMINS, EVERYONE
from crowdd.kinds.types import Integer, JsonObject, Name, ShortName, Text, Timestamp

CATEGORY = Kind(
    name="category",
    doc="A category groups projects on a subject.",
    table="category",
    source="category",
    rights=Rights(see=EVERYONE, get=EVERYONE, create=ADMINS, update=ADMINS, delete=ADMINS),
    fields=(
        Field("id", Integer(), "Unique id.", read=EVERYONE, write=Write.RESERVED),
        Field("created", Timestamp(), "When it was created.", read=EVERYONE, write=Write.RESERVED),
        Field("name", Name(), "Unique name.", read=EVERYONE),
        Field("short_name", ShortName(), "Unique name in addresses.", read=EVERYONE),
        Field("description", Text(maximum=10_000), "Description in one sentence.", read=EVERYONE, default=""),
        Field("info", JsonObject(), "Free-form.", read=EVERYONE, default=dict, max_bytes=16_000),
    ),
)
