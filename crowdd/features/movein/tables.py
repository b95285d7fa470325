"""How the rows of each table of PyBossa are added: some at a time, within the transaction of their checkpoint."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Final

import attrs
import orjson

from crowdd.core.secrets import Secrets, place, token
from crowdd.database.access import Database
from crowdd.features.accounts.passwords import Passwords
from crowdd.features.movein import contents, people, statements, values
from crowdd.features.movein.people import Password, Surroundings
from crowdd.features.movein.statements import Fate, Step
from crowdd.features.movein.values import Converted, Refused, note, note_fates, refuse
from crowdd.features.projects import statements as project_statements
from crowdd.features.webhooks.webhooks import Webhooks
from crowdd.kernel.values import Values

NO_PROJECT: Final = "Its project was refused or does not exist."


@attrs.frozen
class Tools:
    """What rows need on their way in."""

    secrets: Secrets
    passwords: Passwords
    webhooks: Webhooks


@attrs.frozen
class Batch:
    """Rows of one table of PyBossa, in a transaction; what becomes of them is counted in ``step``."""

    tx: Database
    rows: list[Values]
    step: Step
    tools: Tools

    async def accounts(self, column: str) -> set[int]:
        """Which accounts that the rows name are here."""
        return await statements.find_existing_ids(
            self.tx, "account", sorted({row[column] for row in self.rows} - {None})
        )

    async def taken(self, table: str, column: str, texts: Iterable[object]) -> set[str]:
        """Which of these texts are taken, in lower case."""
        return await statements.find_taken_texts(
            self.tx, table, column, sorted({values.clean_text(text).lower() for text in texts})
        )

    def note(self, converted: Converted) -> None:
        """Counts what was changed in a row."""
        for sentence in dict.fromkeys(converted.remarks):
            note(self.step, sentence, [converted.values["id"]])


async def add_categories(batch: Batch) -> None:
    """Categories."""
    names = await batch.taken("category", "name", (row["name"] for row in batch.rows))
    short_names = await batch.taken("category", "short_name", (row["short_name"] for row in batch.rows))
    await _insert(batch, "category", [people.convert_category(row, names, short_names) for row in batch.rows])


async def add_users(batch: Batch) -> None:
    """Accounts with their API keys: a key is encrypted for its account, and looked up by a digest."""
    names = await batch.taken("account", "name", (row["name"] for row in batch.rows))
    emails = await batch.taken("account", "email_addr", (row["email_addr"] for row in batch.rows))
    made = []
    for row in batch.rows:
        account, secrets = people.convert_user(row, names, emails), batch.tools.secrets
        key = str(row["api_key"] or token())
        account.values["api_key_hash"] = secrets.digest("api_key", key)
        account.values["api_key_encrypted"] = secrets.encrypt(key, place("account", "api_key_encrypted", row["id"]))
        made.append(account)
    await _insert(batch, "account", made)


async def add_projects(batch: Batch) -> None:
    """Projects with their ledgers, passwords, secret keys and webhooks."""
    here = await _surroundings(batch)
    for row in batch.rows:
        try:
            converted, password, sched = people.convert_project(row, here)
        except Refused as refused:
            refuse(batch.step, row["id"], str(refused))
            continue
        await _add_project(batch, row, converted, password, sched)


async def _surroundings(batch: Batch) -> Surroundings:
    tx = batch.tx
    people_named = {row["owner_id"] for row in batch.rows} | {i for row in batch.rows for i in row["owners_ids"] or ()}
    return Surroundings(
        accounts=await statements.find_existing_ids(tx, "account", sorted(people_named - {None})),
        categories=await statements.find_existing_ids(
            tx, "category", sorted({row["category_id"] for row in batch.rows} - {None})
        ),
        administrator=await statements.find_first_administrator(tx),
        first_category=await statements.find_first_category(tx),
        names=await batch.taken("project", "name", (row["name"] for row in batch.rows)),
        short_names=await batch.taken("project", "short_name", (row["short_name"] for row in batch.rows)),
        require_webhook=batch.tools.webhooks.require,
    )


async def _add_project(batch: Batch, row: Values, converted: Converted, password: Password | None, sched: str) -> None:
    tx, tools, project_id = batch.tx, batch.tools, row["id"]
    key = str(row["secret_key"] or token())
    converted.values["secret_key_encrypted"] = tools.secrets.encrypt(
        key, place("project", "secret_key_encrypted", project_id)
    )
    await statements.insert_rows(tx, "project", [converted.values])
    await statements.add_ledger(tx, project_id, sched, trial=converted.values["first_published"] is None)
    if password is None:
        await project_statements.touch_project(tx, project_id)
    else:
        hashed = password.hashed or await tools.passwords.hash(password.text or token())
        await project_statements.set_password(tx, project_id, hashed, token())
    await tools.webhooks.follow(tx, project_id, None, converted.values["webhook"])
    await statements.set_project_times(tx, project_id, converted.values["updated"])
    batch.step["added"] += 1
    batch.note(converted)


async def add_tasks(batch: Batch) -> None:
    """Tasks, open or not."""
    now = values.current_time()
    await _send(batch, [contents.task(row, now) for row in batch.rows], statements.add_tasks)


async def add_answers(batch: Batch) -> None:
    """Answers. Networks get the pseudonyms that this server gives them."""
    now, accounts, pseudonym = values.current_time(), await batch.accounts("user_id"), batch.tools.secrets.pseudonym
    await _send(batch, [contents.answer(row, now, accounts, pseudonym) for row in batch.rows], statements.add_answers)


async def add_results(batch: Batch) -> None:
    """Results, also of versions that were replaced."""
    now = values.current_time()
    await _send(batch, [contents.result(row, now) for row in batch.rows], statements.add_results)


async def add_blogposts(batch: Batch) -> None:
    """Blog posts."""
    accounts = await batch.accounts("user_id")
    rows = await _of_projects(batch)
    await _insert(batch, "blogpost", [contents.blogpost(row, accounts) for row in rows])


async def add_helping_materials(batch: Batch) -> None:
    """Helping materials."""
    await _insert(batch, "helpingmaterial", [contents.helping_material(row) for row in await _of_projects(batch)])


async def add_announcements(batch: Batch) -> None:
    """Announcements."""
    accounts = await batch.accounts("user_id")
    await _insert(batch, "announcement", [contents.announcement(row, accounts) for row in batch.rows])


async def _of_projects(batch: Batch) -> list[Values]:
    """The rows whose project is here; the others are refused."""
    project_ids = await statements.find_existing_ids(
        batch.tx, "project", sorted({row["project_id"] for row in batch.rows} - {None})
    )
    for row in batch.rows:
        if row["project_id"] not in project_ids:
            refuse(batch.step, row["id"], NO_PROJECT)
    return [row for row in batch.rows if row["project_id"] in project_ids]


async def _insert(batch: Batch, table: str, rows: Sequence[Converted]) -> None:
    await statements.insert_rows(batch.tx, table, [row.values for row in rows])
    batch.step["added"] += len(rows)
    for row in rows:
        batch.note(row)


async def _send(batch: Batch, rows: Sequence[Converted], add: Callable[[Database, str], Awaitable[list[Fate]]]) -> None:
    """Has a function of SQL add rows. Remarks are about those that were added."""
    fates = await add(batch.tx, orjson.dumps([row.values for row in rows]).decode())
    note_fates(batch.step, fates)
    added = {each.id for each in fates if each.fate == "added"}
    for row in rows:
        if row.values["id"] in added:
            batch.note(row)


ADDING: Final[Mapping[str, Callable[[Batch], Awaitable[None]]]] = {
    "category": add_categories,
    "user": add_users,
    "project": add_projects,
    "task": add_tasks,
    "task_run": add_answers,
    "result": add_results,
    "blogpost": add_blogposts,
    "helpingmaterial": add_helping_materials,
    "announcement": add_announcements,
}
"""By the table of PyBossa."""
