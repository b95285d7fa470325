"""A site with everybody and everything on it, for the matrices: people who stand differently to the same rows."""

from __future__ import annotations

from typing import Any

import attrs
from support.browsers import lock
from support.servers.served import Client, Served

from crowdd.kinds import KINDS
from crowdd.kinds.roles import Role

FIRST_ID = 20_000_000  # ids are numbers that stand nowhere else by chance, nor within an id of another kind
REQUESTERS = ("anonymous", "external", "stranger", "volunteer", "coowner", "owner", "admin", "herself")

_ANYBODY = frozenset({Role.ANYBODY})
_SIGNED_IN = _ANYBODY | {Role.SIGNED_IN}
_PROJECT_KINDS = frozenset(
    {"project", "task", "taskrun", "result", "blogpost", "helpingmaterial", "prediction", "projectstats"}
)


@attrs.define
class Stage:
    """``people`` by what they are; ``rows`` and ``hidden`` have two rows of each kind: their ids in order."""

    served: Served
    people: dict[str, Client]
    projects: dict[str, dict[str, Any]]
    rows: dict[str, tuple[int, int]] = attrs.field(factory=dict)
    hidden: dict[str, tuple[int, int]] = attrs.field(factory=dict)

    def __getitem__(self, name: str) -> Client:
        return self.people[name]

    async def sql(self, text: str, **values: Any) -> list[dict[str, Any]]:
        """A statement past all rules."""
        return await self.served.database.fetch(text, values)


def roles(kind: str, requester: str, number: int = 0) -> frozenset[Role]:
    """What a requester is to the shown row of that number; written down here, so that no code of crowdd decides it."""
    have = _ANYBODY if requester in ("anonymous", "external") else _SIGNED_IN
    if requester == "admin":
        have |= {Role.ADMIN}
    if kind in _PROJECT_KINDS:
        have |= {Role.LISTED, Role.UNLOCKED, Role.REACHABLE}
        have |= {Role.ANSWERS_LISTED, Role.ANSWERS_UNLOCKED}
        if requester in ("owner", "coowner"):
            have |= {Role.OWNER}
        if requester == "owner":
            have |= {Role.CREATOR}
    if kind == "project" and requester in ("owner", "coowner", "admin"):
        have |= {Role.KEYHOLDER}
    if kind in ("blogpost", "announcement", "user"):
        have |= {Role.SHOWN}
    if (kind, requester) in {("taskrun", "volunteer"), ("blogpost", "owner"), ("announcement", "admin")}:
        have |= {Role.AUTHOR}
    if (kind, requester, number) == ("user", "herself", 0):
        have |= {Role.SELF, Role.KEYHOLDER}  # she comes with her key, which is told what it knows
    return have


def sees_hidden(kind: str, requester: str) -> bool:
    """Whether a requester sees rows that are shown to few: of a locked project, unpublished, or of blocked people."""
    if requester == "admin":
        return True
    if kind in ("announcement", "user"):
        return False
    return requester in ("owner", "coowner") or (kind, requester) == ("taskrun", "volunteer")


async def build(served: Served) -> Stage:
    """People, an open and a locked project, and two rows of every kind in each."""
    for kind in KINDS.values():
        if kind.methods == {"GET"}:
            continue  # made of other kinds
        offset = list(KINDS).index(kind.name) * 1_000_000
        await served.database.execute(
            f"SELECT setval(pg_get_serial_sequence('{kind.table}', 'id'), {FIRST_ID + offset}, false)"
        )
    names = ("owner", "coowner", "volunteer", "stranger", "anna", "berta", "dora", "emma")
    people = {name: await served.person(name) for name in names}
    people["admin"] = await served.person("admin", admin=True)
    people["herself"] = people["anna"]
    people["anonymous"] = served.client()
    made = Stage(served, people, {})
    for short_name in ("open", "locked"):
        made.projects[short_name] = await project(made, short_name)
    await _fill(made, "open", made.rows)
    await _fill(made, "locked", made.hidden)
    made.rows["project"] = (made.projects["open"]["id"], (await project(made, "second"))["id"])
    made.hidden["project"] = (made.projects["locked"]["id"], (await project(made, "bolted"))["id"])
    made.rows["projectstats"], made.hidden["projectstats"] = made.rows["project"], made.hidden["project"]
    # Owners alone see predictions, of every project.
    made.rows["prediction"], made.hidden["prediction"] = (), (*made.rows["prediction"], *made.hidden["prediction"])
    made.rows["category"] = tuple(row["id"] for row in await made.sql("SELECT id FROM category ORDER BY id"))
    made.rows["user"] = (people["anna"].user_id, people["berta"].user_id)
    made.hidden["user"] = (people["dora"].user_id, people["emma"].user_id)
    blocked = list(made.hidden["user"])
    await made.sql('UPDATE account SET "restrict" = true WHERE id = ANY (%(ids)s) RETURNING 1', ids=blocked)
    made.people["external"] = await external(made, "open")
    for short_name in ("locked", "bolted"):
        await lock(served, short_name, people["owner"], "sesame")
    return made


async def project(stage: Stage, short_name: str) -> dict[str, Any]:
    """A published project of the owner and the co-owner."""
    made = await stage.served.project(stage["owner"], short_name, tasks=2, published=True, n_answers=1)
    await stage.sql(
        "UPDATE project SET owners_ids = owners_ids || %(coowner)s::bigint WHERE id = %(id)s RETURNING 1",
        coowner=stage["coowner"].user_id,
        id=made["id"],
    )
    return made


async def external(stage: Stage, short_name: str) -> Client:
    """A program that speaks for an external user: it has the project's token."""
    key = (await stage["owner"].get(f"/api/project/{stage.projects[short_name]['id']}")).json()["secret_key"]
    token = await stage.served.client().get(f"/api/auth/project/{short_name}/token", headers={"Authorization": key})
    return stage.served.client(Authorization=f"Bearer {token.text}")


async def _fill(stage: Stage, short_name: str, rows: dict[str, tuple[int, int]]) -> None:
    made = stage.projects[short_name]
    shown = short_name == "open"
    rows["task"] = tuple(made["tasks"])
    rows["taskrun"] = tuple([await answer(stage["volunteer"], made["id"]) for _ in made["tasks"]])
    results = (await stage["owner"].get(f"/api/result?project_id={made['id']}")).json()
    rows["result"] = tuple(row["id"] for row in results)
    for kind, maker in (("blogpost", "owner"), ("announcement", "admin"), ("helpingmaterial", "owner")):
        rows[kind] = tuple([await add(stage[maker], kind, made["id"], shown) for _ in range(2)])
    rows["prediction"] = tuple([await predict(stage["owner"], made["id"], task) for task in made["tasks"]])
    await stage["stranger"].post("/api/favorites", json={"task_id": made["tasks"][0]})


async def answer(volunteer: Client, project_id: int, info: Any = 1, **query: str) -> int:
    """The id of an answer to the next task."""
    words = "".join(f"&{name}={value}" for name, value in query.items())
    task = (await volunteer.get(f"/api/{project_id}/newtask?limit=1{words}")).json()
    body = {"project_id": project_id, "task_id": task["id"], "info": info, **query}
    made = await volunteer.post(f"/api/taskrun?{words.removeprefix('&')}", json=body)
    assert made.status == 200, made.body
    return int(made.json()["id"])


async def predict(owner: Client, project_id: int, task_id: int, model: str = "yolo") -> int:
    """The id of a new prediction."""
    body = {"project_id": project_id, "task_id": task_id, "model": model, "question": "q", "value": "fox"}
    return int((await owner.post("/api/prediction", json=body)).json()["id"])


async def add(maker: Client, kind: str, project_id: int, published: bool = True) -> int:
    """The id of a new blog post, announcement or helping material."""
    bodies: dict[str, dict[str, Any]] = {
        "blogpost": {"project_id": project_id, "title": "News", "body": "Much.", "published": published},
        "announcement": {"title": "News", "body": "Much.", "published": published},
        "helpingmaterial": {"project_id": project_id, "info": {}},
    }
    made = await maker.post(f"/api/{kind}", json=bodies[kind])
    assert made.status == 200, made.body
    return int(made.json()["id"])
