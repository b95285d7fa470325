"""A new key: what was encrypted before is found, opened, and encrypted again in parts."""

from __future__ import annotations

import attrs
import pytest
import pytest_twisted
from cryptography.exceptions import InvalidTag
from support.first_encryption import encrypted_at_first
from twisted.internet import reactor
from twisted.internet.defer import ensureDeferred, gatherResults

from crowdd.core import statements as core_statements
from crowdd.core.secrets import Secrets, place
from crowdd.features.accounts.feature import AccountsFeature
from crowdd.features.accounts.validation import Registration
from crowdd.features.operations.keys import KeyRotation
from crowdd.features.projects.feature import ProjectsFeature
from crowdd.features.signin.feature import SigninFeature
from crowdd.features.signin.providers import ProviderIdentity
from crowdd.features.signin.second_factors import Totp
from crowdd.features.snapshots import statements as snapshot_statements
from crowdd.features.webhooks.feature import WebhooksFeature
from crowdd.house import build_house
from crowdd.kernel.requester import Requester
from crowdd.kinds.project import PROJECT

OLD = Secrets(b"\x07" * 32)
NEW = Secrets(b"\x08" * 32, (OLD.root,))
ONLY_NEW = Secrets(b"\x08" * 32)


class Stage:
    """People with keys, a provider's token and an authenticator app, a project with a webhook that has two secrets, and a
    deposit with a token.
    """

    def __init__(self, settings, pool):
        self.pool, self.house = pool, build_house(reactor, pool, settings, OLD)
        self.newer = build_house(reactor, pool, settings, NEW)

    async def build(self):
        self.house.start()
        form = Registration("ada", "Ada", "ada@example.org", "a good password", "a good password")
        self.ada = await self.house[AccountsFeature].accounts.register(form, Requester())
        self.house.stop()
        self.who = Requester(user_id=self.ada, user_name="ada")
        await self.house[SigninFeature].social_login.connect(
            self.ada, ProviderIdentity("github", "1", token="t0ken"), self.who
        )
        await self.totp(self.house).enrolment(self.ada, "ada", Requester(user_id=self.ada))
        body = {"name": "Birds", "short_name": "birds", "description": "x", "webhook": "https://hooks.example/"}
        await self.house.base.records.create(PROJECT, self.who, body)
        self.birds = await self.house[ProjectsFeature].projects.owned("birds", self.who)
        await self.house[WebhooksFeature].webhooks.rotate(self.birds, self.who)
        (snapshot,) = await self.pool.fetch(
            "INSERT INTO snapshot (project_id, created) VALUES (%(id)s, clock()) RETURNING id", {"id": self.birds["id"]}
        )
        deposit = await snapshot_statements.insert_deposit(
            self.pool, snapshot["id"], self.ada, "https://zenodo.org", publish=False
        )
        self.deposit = deposit
        token = self.house.base.secrets.encrypt("zen0do", place("deposit", "token_encrypted", deposit))
        await snapshot_statements.set_deposit_token(self.pool, deposit, token)
        return self

    def totp(self, house):
        return Totp(self.pool, house.base.secrets, house.base.site.name)

    async def secrets(self, house):
        """Everything that is encrypted, as a domain reads it."""
        row = await house[AccountsFeature].accounts.profile(self.ada)
        texts = [
            house[AccountsFeature].accounts.api_key(row),
            (await house[SigninFeature].social_login.tokens(self.ada))["github_token"],
        ]
        texts.append((await self.totp(house).enrolment(self.ada, "ada", Requester(user_id=self.ada))).secret)
        project = await house[ProjectsFeature].projects.owned("birds", self.who)
        deposit = await snapshot_statements.find_deposit_work(self.pool, self.deposit)
        texts.append(
            house.base.secrets.decrypt(deposit.token_encrypted, place("deposit", "token_encrypted", deposit.id))
        )
        return [
            *texts,
            house.base.records.view(PROJECT, project)["secret_key"],
            await house[WebhooksFeature].webhooks.secret(project, self.who),
        ]

    async def values(self):
        return [
            bytes(row["encrypted"])
            for c in core_statements.ENCRYPTED_COLUMNS
            for row in await core_statements.list_outdated_values(self.pool, c, b"\0", None)
        ]


@pytest_twisted.async_yield_fixture
async def stage(settings, pool):
    yield await Stage(settings, pool).build()


@pytest_twisted.ensureDeferred
async def test_every_secret_is_read_before_and_after_and_then_without_the_old_key(stage, settings, pool):
    before = await stage.secrets(stage.house)
    assert await stage.secrets(stage.newer) == before and None not in before
    done = await KeyRotation(pool, NEW).run()
    assert [(one.column, one.changed, one.unreadable) for one in done] == [
        ("api_key_encrypted", 1, 0),
        ("secret_key_encrypted", 1, 0),
        ("secret_encrypted", 1, 0),
        ("old_secret_encrypted", 1, 0),
        ("encrypted", 1, 0),
        ("encrypted", 1, 0),
        ("token_encrypted", 1, 0),
    ]
    assert all(value.startswith(NEW.encryption_prefix) for value in await stage.values())
    assert await stage.secrets(stage.newer) == before
    assert await stage.secrets(build_house(reactor, pool, settings, ONLY_NEW)) == before
    assert (
        await stage.newer[AccountsFeature].accounts.by_key(stage.newer[AccountsFeature].accounts.key_hash(before[0]))
    )["id"] == stage.ada, "it is found as before"
    assert {one.changed for one in await KeyRotation(pool, NEW).run()} == {0}


@pytest_twisted.ensureDeferred
async def test_a_secret_of_another_row_opens_nowhere(stage, pool):
    body = {"name": "Owls", "short_name": "owls", "description": "x"}
    await stage.house.base.records.create(PROJECT, stage.who, body)
    await pool.execute(
        "UPDATE project SET secret_key_encrypted = (SELECT secret_key_encrypted FROM project WHERE short_name = 'birds')"
    )
    with pytest.raises(InvalidTag):
        stage.house.base.records.view(PROJECT, await stage.house[ProjectsFeature].projects.owned("owls", stage.who))


@pytest_twisted.ensureDeferred
async def test_values_of_the_first_crowdd_get_a_place(stage, pool):
    key = stage.house[AccountsFeature].accounts.api_key(await stage.house[AccountsFeature].accounts.profile(stage.ada))
    await pool.execute("UPDATE account SET api_key_encrypted = %(s)s", {"s": encrypted_at_first(OLD, key)})
    assert (
        stage.house[AccountsFeature].accounts.api_key(await stage.house[AccountsFeature].accounts.profile(stage.ada))
        == key
    )
    assert (await KeyRotation(pool, OLD).run())[0].changed == 1
    assert (await stage.values())[0].startswith(OLD.encryption_prefix)


@pytest_twisted.ensureDeferred
async def test_it_goes_on_where_it_was_broken_off_and_past_what_nobody_opens(stage, pool, monkeypatch):
    monkeypatch.setattr(core_statements, "CHUNK", 10)
    strange = Secrets(b"s" * 32)
    await pool.execute(
        "INSERT INTO account (created, name, fullname, email_addr, api_key_hash, api_key_encrypted)"
        " SELECT clock(), 'p' || n, 'P', n || '@example.org', n::text::bytea, %(s)s FROM generate_series(1, 25) n",
        {"s": strange.encrypt("x", "elsewhere")},
    )
    await pool.execute(
        "INSERT INTO account (created, name, fullname, email_addr, api_key_hash, api_key_encrypted)"
        " SELECT clock(), 'q' || n, 'Q', 'q' || n || '@example.org', ('q' || n)::bytea, %(s)s FROM generate_series(1, 25) n",
        {"s": encrypted_at_first(OLD, "y")},
    )

    class BrokenOff:
        left = 1

        fetch, execute = pool.fetch, pool.execute

        async def transaction(self, work):
            if not self.left:
                raise KeyboardInterrupt
            self.left -= 1
            return await pool.transaction(work)

    with pytest.raises(KeyboardInterrupt):
        await KeyRotation(BrokenOff(), NEW).run()
    done = (await KeyRotation(pool, NEW).run())[0]
    assert (done.unreadable, done.changed < 26) == (25, True)
    left = await core_statements.list_outdated_values(
        pool, core_statements.ENCRYPTED_COLUMNS[0], NEW.encryption_prefix, None
    )
    assert {bytes(row["encrypted"])[:12] for row in left} == {strange.encryption_prefix}


@pytest_twisted.ensureDeferred
async def test_a_secret_that_is_replaced_meanwhile_is_not_lost(stage, pool):
    async def replacing(tx):
        (row, *_) = await core_statements.list_outdated_values(
            tx, core_statements.ENCRYPTED_COLUMNS[0], NEW.encryption_prefix, None
        )
        await ensureDeferred(stage.newer[AccountsFeature].accounts.reset_api_key(stage.ada, stage.who))
        return await core_statements.replace_value(tx, core_statements.ENCRYPTED_COLUMNS[0], row, b"older")

    assert await pool.transaction(replacing) is False
    row = await stage.newer[AccountsFeature].accounts.profile(stage.ada)
    accounts = stage.newer[AccountsFeature].accounts
    assert (await accounts.by_key(accounts.key_hash(accounts.api_key(row))))["id"] == stage.ada
    await gatherResults([ensureDeferred(KeyRotation(pool, NEW).run()) for _ in range(2)])
    assert attrs.asdict((await KeyRotation(pool, NEW).run())[0])["changed"] == 0
