"""A site with finished projects and a thousand simulated people: ``make demo``.

    python -m bench.demo [--folder var/demo] [--port 8000] [--people 1000]

Makes the site in the folder, unless it is there already, and serves it until Ctrl-C. Nothing is fetched from anywhere.
The administrator is ``demo@example.org`` with the password that is printed. People ask for tasks and answer them over
HTTP, as volunteers do: some with accounts, most without, each from an address of their own.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import attrs
import click
from support.person import Person
from support.servers.live import BIN, CROWDED

from bench import ROOT
from bench.demo.scenes import SCENES, Scene, Shown
from bench.support import testbed
from bench.support.volunteers import address
from bench.support.wire import Client

Json = dict[str, Any]
LIBRARY: Final = ROOT / "crowdd" / "features" / "gallery" / "library"
FOLDER: Final = ROOT / "var" / "demo"
FULL: Final = "demo.json"  # written at the end: who has half a site begins again
PASSWORD: Final = "a lake with ducks"
ACCOUNTS: Final = (
    "Ada Moreno", "Ben Okafor", "Clara Holt", "Dmitri Volkov", "Elif Kaya", "Farah Haddad", "Gustav Lindner",
    "Hana Sato",
    "Ines Duarte", "Jonas Field", "Kofi Mensah", "Lucie Perrin", "Mateo Cruz", "Noor Aziz", "Oskar Nowak", "Priya Nair",
    "Quentin Roy", "Rosa Bianchi", "Samuel Oakes", "Tuva Berg",
)  # fmt: skip
# While people arrive in minutes who would come in weeks.
FILLING: Final = {
    **CROWDED,
    "CROWDD_HTTP_TRUSTED_PROXIES": "127.0.0.1",
    "CROWDD_RATELIMIT_LIMIT": "0",
    "CROWDD_VOLUNTEERS_COOKIES_PER_HOUR": "100000",
    "CROWDD_VOLUNTEERS_COOKIES_PER_DAY": "100000",
}
COMMENTS: Final = (
    ("remark", "The bird in the middle might be a young one."),
    ("question", "Does half of an animal at the edge count?"),
    ("problem", "This one is very dark on my phone."),
)


@attrs.frozen
class Identity:
    """Who somebody is: headers, or words of the query."""

    headers: dict[str, str]
    query: str = ""


def crowdctl(environment: dict[str, str], *words: str) -> str:
    """What a command prints. Raises ClickException with its error."""
    command = [BIN / "crowdctl", *words]
    done = subprocess.run(command, check=False, env=environment, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise click.ClickException(f"crowdctl {words[0]}: {done.stderr.strip()}")
    return done.stdout


@contextlib.contextmanager
def served(environment: dict[str, str], url: str, log: Path) -> Iterator[None]:
    """The site answers as long as this lasts."""
    with log.open("ab") as lines:
        process = subprocess.Popen([BIN / "crowdctl", "serve"], env=environment, cwd=ROOT, stdout=lines, stderr=lines)
        try:
            wait_for(process, url, log)
            yield
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(60)


def wait_for(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    """Returns when the site answers; raises ClickException when it ends before."""
    while True:
        try:
            urllib.request.urlopen(f"{url}/ready", timeout=5).close()
        except OSError:
            if process.poll() is not None:
                raise click.ClickException(f"The server ended; {log} says why.") from None
            time.sleep(0.2)
        else:
            return


def write_project(scene: Scene, folder: Path) -> list[Shown]:
    """A folder that ``crowdctl project load`` takes; what its tasks show."""
    shown = scene.make(folder)
    template = json.loads((LIBRARY / scene.template / "project.json").read_text())
    document = {**template, "name": scene.name, "short_name": scene.short_name, "description": scene.description}
    document |= {"category": scene.category, "n_answers": scene.n_answers}
    document["info"] = {**template["info"], "thumbnail_url": "thumbnail.webp", "sched": "depth_first"}
    (folder / "project.json").write_text(json.dumps(document))
    (folder / "tasks.ndjson").write_text("".join(json.dumps(each.columns) + "\n" for each in shown))
    (folder / "long_description.md").write_text(
        f"{scene.description}\n\nThis project is a demonstration: its pictures, sounds and texts are made up.\n"
    )
    shutil.copy(LIBRARY / scene.template / "thumbnail.webp", folder)
    return shown


async def answer(client: Client, chance: random.Random, project: Json, scene: Scene, truths: dict[int, Any]) -> bool:
    """Asks for one task and answers it; whether there was one."""
    task = (await client.ask("GET", f"/api/project/{project['id']}/newtask")).json
    if not task:
        return False
    info = scene.say(truths[task["id"]], chance, chance.betavariate(9, 1.6))
    body = {"project_id": project["id"], "task_id": task["id"], "info": {**info, "questions_version": 1}}
    sent = await client.ask("POST", "/api/taskrun", body)
    if sent.status != 200:
        raise click.ClickException(f"{scene.short_name}: {sent.status} {sent.body.decode()[:300]}")
    return True


async def finish(port: int, people: list[Identity], project: Json, scene: Scene, truths: dict[int, Any]) -> int:
    """People take part until the project is done; how many answers they gave. Each does a few tasks."""
    chance, answers = random.Random(scene.short_name), 0
    for person in chance.sample(people, len(people)):
        client = Client(port, person.headers, person.query)
        turns = chance.choice((1, 1, 2, 3, 5, 8))
        while turns and await answer(client, chance, project, scene, truths):
            turns, answers = turns - 1, answers + 1
        client.close()
        if answers >= len(truths) * scene.n_answers:
            break
    return answers


def register(url: str, count: int) -> list[Identity]:
    """People with accounts, and so many in all; those without come from addresses of their own."""
    people = []
    for name in ACCOUNTS[:count]:
        person = Person(url).register(name.lower().replace(" ", "-"))
        person.api("PUT", f"user/{person.profile()['user']['id']}", {"fullname": name})
        people.append(Identity({}, f"api_key={person.key}"))
    return [*people, *(Identity({"X-Forwarded-For": address(number)}) for number in range(count - len(people)))]


def make(environment: dict[str, str], folder: Path, url: str, port: int, people_count: int) -> None:
    """Fills an empty site that answers at ``url``."""
    words = ("admin", "create", "--name", "demo", "--email", "demo@example.org", "--fullname", "Dana Demo", "--json")
    owner = Person(url)
    owner.key = json.loads(crowdctl(environment, *words, "--password", PASSWORD))["api_key"]
    work = []
    for scene in SCENES:
        with tempfile.TemporaryDirectory() as place:
            shown = write_project(scene, Path(place))
            crowdctl(environment, "project", "load", "--strict", "--owner", "demo", "--publish", place)
        project = owner.api("GET", "project", short_name=scene.short_name)[0]
        tasks = owner.api("GET", "task", project_id=project["id"], limit=100, orderby="id")
        work.append(
            (project, scene, dict(zip((task["id"] for task in tasks), (each.truth for each in shown), strict=True)))
        )
        click.echo(f"  {scene.name}: {len(tasks)} tasks")
    click.echo(f"{people_count:,} people answer")
    people = register(url, people_count)

    async def all_at_once() -> list[int]:
        return await asyncio.gather(*(finish(port, people, *each) for each in work))

    for (_, scene, truths), answers in zip(work, testbed.run(all_at_once()), strict=True):
        click.echo(f"  {scene.name}: {answers} answers")
        if answers < len(truths) * scene.n_answers:
            raise click.ClickException(f"{people_count} people are too few for {scene.name}.")
    talk(owner, url, work)
    crowdctl(environment, "check")
    (folder / FULL).write_text(json.dumps({"port": port}))


def talk(owner: Person, url: str, work: list[tuple[Json, Scene, dict[int, Any]]]) -> None:
    """Comments of volunteers, and what the owner tells them."""
    for number, (project, scene, truths) in enumerate(work):
        path = f"/project/{scene.short_name}/task/{min(truths)}/comment"
        for kind, text in COMMENTS[: 1 + number % len(COMMENTS)]:
            visitor = Person(url)
            token = visitor.ask("GET", path).json["form"]["csrf"]
            visitor.ask("POST", path, {"kind": kind, "text": text, "csrf": token}, **{"X-CSRFToken": token})
        post = {"title": "All tasks are done", "body": "Thank you! The results are on their page.", "published": True}
        owner.api("POST", "blogpost", {**post, "project_id": project["id"]})


@click.command(context_settings={"show_default": True})
@click.option(
    "--folder", type=click.Path(path_type=Path), default=ROOT / "var" / "demo", help="Where the site is kept."
)
@click.option("--port", default=8000, help="Where it is served.")
@click.option("--people", default=1000, help="How many take part.")
@click.option("--once", is_flag=True, help="End when the site is made.")
def main(folder: Path, port: int, people: int, once: bool) -> None:
    """Make a site for demonstrations, and serve it."""
    began, url = time.monotonic(), f"http://127.0.0.1:{port}"
    environment = {**os.environ, "CROWDD_DATA_DIR": str(folder / "data"), "CROWDD_HTTP_PORT": str(port)}
    if not (folder / FULL).exists():
        if folder.exists() and any(folder.iterdir()) and not (folder / "data").is_dir():
            raise click.ClickException(f"{folder} holds something else. Name another folder.")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        click.echo(f"Making a site with {len(SCENES)} projects in {folder}: some three minutes")
        with served({**environment, **FILLING}, url, folder / "log"):
            make({**environment, **FILLING}, folder, url, port, people)
        click.echo(f"Made in {time.monotonic() - began:.0f} s")
    if not once:
        click.echo(f"Administrator: demo@example.org, password: {PASSWORD}")
        os.execve(BIN / "crowdctl", ["crowdctl", "serve"], environment)


if __name__ == "__main__":
    main()
