"""Helping material: pictures, sounds and notes that help volunteers to answer (interface: helpingmaterial-fields)."""

from crowdd.kinds.kind import Field, Kind, Rights, Write
from crowdd.kinds.roles import ADMINS, EVERYONE, OWNERS, Role
from crowdd.kinds.types import Integer, JsonObject, Number, PictureAddress, Timestamp

CREATORS = ADMINS | {Role.CREATOR}

HELPING_MATERIAL = Kind(
    name="helpingmaterial",
    doc="A helping material: a file that belongs to a project.",
    table="helpingmaterial",
    source="helpingmaterial",
    context=True,
    parents={"project": "project_id"},
    files=True,
    pictures=("media_url",),
    rights=Rights(
        see=OWNERS | {Role.LISTED},
        get=OWNERS | {Role.UNLOCKED},
        create=CREATORS,
        update=CREATORS,
        delete=CREATORS,
    ),
    fields=(
        Field("id", Integer(), "Unique id.", read=EVERYONE, write=Write.RESERVED),
        Field("created", Timestamp(), "When it was created.", read=EVERYONE, write=Write.RESERVED),
        Field("project_id", Integer(), "Id of its project.", read=EVERYONE, write=Write.ONCE),
        Field("info", JsonObject(), "Free-form.", read=EVERYONE, default=dict, max_bytes=256_000),
        Field("media_url", PictureAddress(), "Address of the file.", read=EVERYONE, null=True),
        Field("priority", Number(), "Materials with a higher priority come first.", read=EVERYONE, default=0.0),
    ),
)
