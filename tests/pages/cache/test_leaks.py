"""Whatever owners and administrators do, in whatever order and while visitors look: nobody sees what is no longer for them.

Nothing in the cache gets old by itself here: only the version keeps a page from those who may no longer see it.
CROWDD_EXAMPLES=10000 pytest tests/pages/cache/test_leaks.py takes as many steps, CROWDD_SEED=2 others.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable
from typing import Any

import attrs
import pytest
import pytest_twisted
from support.checks.proofs import examples
from support.servers.served import Response
from support.visitors import VisitedSite
from twisted.internet.defer import ensureDeferred, gatherResults

pytestmark = pytest.mark.inside

FEW, STEPS, PROOF = 60, int(os.environ.get("CROWDD_EXAMPLES", "200")), 10_000
SEED = int(os.environ.get("CROWDD_SEED", "1"))
LISTS = ("/", "/account/owner/")
BOARD = "/leaderboard/"
WORD = re.compile(r"word\d{5}x")


@attrs.frozen
class Project:
    """What visitors may see of a project. Its name is a word that was never used before."""

    short_name: str
    word: str
    locked: bool = False
    published: bool = True

    @property
    def pages(self) -> tuple[str, ...]:
        return tuple(
            f"/project/{self.short_name}/{page}" for page in ("", "stats", "tasks/", "tasks/browse", "newtask")
        )

    @property
    def listed(self) -> bool:
        return self.published and not self.locked


@attrs.frozen
class Person:
    """What visitors may see of somebody who answered; the full name is a word that was never used before."""

    name: str
    word: str
    blocked: bool = False
    hidden: bool = False


State = dict[str, Project | Person]


def wrong(state: State, path: str, page: Response, shown: set[str], *, as_json: bool) -> str:
    """What a page shows or lacks that it must not, as things stand; ``shown`` are the words on it that were ever used."""
    allowed = set()
    for one in state.values():
        if isinstance(one, Project) and path in one.pages:
            if (page.status == (403 if as_json else 302)) != one.locked:
                return f"{path}: status {page.status} of {one}"
            allowed |= set() if one.locked else {one.word}
        elif isinstance(one, Project) and path in LISTS and one.listed:
            allowed.add(one.word)
            if one.word not in shown:
                return f"{path} lacks {one}"
        elif isinstance(one, Person) and not one.blocked and not one.hidden:
            allowed.add(one.word)
        linked = isinstance(one, Person) and f"/account/{one.name}/" in page.text
        if as_json:
            continue  # it has no links
        if isinstance(one, Person) and linked != (not one.blocked) and (path == BOARD or (path == "/" and linked)):
            return f"{path}: {one}"  # without projects, home names nobody
    return f"{path} shows {shown - allowed}" if shown - allowed else ""


class Play:
    """Steps by chance: visitors ask, something is changed meanwhile, and visitors ask again."""

    def __init__(self, site: VisitedSite, seed: int) -> None:
        self.site, self.chance = site, random.Random(seed)
        self.state: State = {}
        self.words = 0
        self.ids: dict[str, int] = {}
        self.asked = 0

    def word(self) -> str:
        """A new one."""
        self.words += 1
        return f"word{self.words:05}x"

    async def begin(self) -> None:
        """Three projects of the owner, and two people who answered in each."""
        for name in ("ann", "ben"):
            person = await self.site.served.person(f"{name}{self.site.number}")
            await self.site.answer(person)
            name = f"{name}{self.site.number}"
            self.ids[name], self.state[name] = person.user_id, Person(name, self.word())
            await self.set_person(name)
        for short_name in (self.site.short_name, f"fish{self.site.number}", f"trees{self.site.number}"):
            if short_name != self.site.short_name:
                self.site.project = await self.site.served.project(self.site.owner, short_name, tasks=2, published=True)
            self.ids[short_name], self.state[short_name] = self.site.project["id"], Project(short_name, self.word())
            await self.set_project(short_name)

    async def set_project(self, short_name: str) -> None:
        """Writes a project as it is to be, in one transaction."""
        one = self.state[short_name]
        assert isinstance(one, Project)
        lock = "x" if one.locked else None
        await self.site.sql(
            "UPDATE project SET name = %(word)s, published = %(published)s, lock_id = %(lock)s, passwd_hash = %(lock)s WHERE id = %(id)s RETURNING 1",
            id=self.ids[short_name], word=one.word, published=one.published, lock=lock,
        )  # fmt: skip

    async def set_person(self, name: str) -> None:
        """Writes somebody as they are to be."""
        one = self.state[name]
        assert isinstance(one, Person)
        await self.site.sql(
            'UPDATE account SET fullname = %(word)s, privacy_mode = %(hidden)s, "restrict" = %(blocked)s WHERE id = %(id)s RETURNING 1',
            id=self.ids[name], word=one.word, hidden=one.hidden, blocked=one.blocked,
        )  # fmt: skip

    def changed(self) -> tuple[str, Any]:
        """Something, and what it becomes."""
        name = self.chance.choice(list(self.state))
        one = self.state[name]
        if self.chance.random() < 0.2:
            return name, attrs.evolve(one, word=self.word())
        flag = self.chance.choice(["locked", "published"] if isinstance(one, Project) else ["blocked", "hidden"])
        return name, attrs.evolve(one, **{flag: not getattr(one, flag)})

    def paths(self, number: int) -> list[str]:
        """Some that visitors ask for."""
        pages = [path for one in self.state.values() if isinstance(one, Project) for path in one.pages]
        return self.chance.choices([*pages, *LISTS * 2, *[BOARD] * 2], k=number)

    async def ask(self, path: str, states: Callable[[], list[State]]) -> str:
        """What is wrong with a page by each of the states that it may be of."""
        self.asked += 1
        as_json = self.chance.random() < 0.3
        page = await self.site.seen(path, **({"Accept": "application/json"} if as_json else {}))
        shown = set(WORD.findall(page.text))
        errors = [wrong(state, path, page, shown, as_json=as_json) for state in states()]
        return "" if "" in errors else "; ".join(errors)

    async def step(self) -> list[str]:
        """Visitors who ask while something changes see it as it was or as it is; those who come later, as it is."""
        before = dict(self.state)
        during = [ensureDeferred(self.ask(path, lambda: [before, self.state])) for path in self.paths(2)]
        name, one = self.changed()
        self.state = {**before, name: one}
        write = self.set_project(name) if isinstance(one, Project) else self.set_person(name)
        await write
        after = [ensureDeferred(self.ask(path, lambda: [self.state])) for path in self.paths(2)]
        errors = await gatherResults([*during, *after])
        if self.chance.random() < 0.1:
            self.site.clock.advance(0.5)
        return [words for words in errors if words]


async def play(site: VisitedSite, seed: int, steps: int) -> None:
    game = Play(site, seed)
    await game.begin()
    made = site.made
    for number in range(steps):
        assert await game.step() == [], (seed, number)
    assert site.made - made < game.asked, "nothing came out of the cache"


@examples("few")
@pytest.mark.parametrize("steps", [FEW, STEPS], ids=["few", "many"])
@pytest_twisted.ensureDeferred
async def test_nobody_sees_what_is_no_longer_for_them(site, steps):
    await play(site, SEED, steps)


@pytest.mark.proof
@pytest.mark.size
@pytest_twisted.ensureDeferred
async def test_nobody_does_in_ten_thousand_changes(site):
    await play(site, SEED + 1000, PROOF)
