"""Users go on after the move: with their passwords, their keys and their tasks."""

from __future__ import annotations

import pytest_twisted

from moving.conftest import PASSWORD


@pytest_twisted.ensureDeferred
async def test_an_old_password_signs_in_and_is_hashed_again(moved, serve, rows) -> None:
    site = await serve()
    stored = "SELECT passwd_hash FROM account WHERE id = 1"
    assert rows(stored)[0]["passwd_hash"].startswith("pbkdf2:sha256:1000$")
    wrong = await site.client().send_form("/account/signin", {"email": "owner@example.org", "password": "another"})
    assert wrong.json()["status"] == "error" if wrong.text.startswith("{") else wrong.status == 200
    assert rows(stored)[0]["passwd_hash"].startswith("pbkdf2:")
    right = await site.client().send_form("/account/signin", {"email": "owner@example.org", "password": PASSWORD})
    assert right.status in (200, 302)
    assert rows(stored)[0]["passwd_hash"].startswith("$argon2id$")
    again = await site.client().send_form("/account/signin", {"email": "owner@example.org", "password": PASSWORD})
    assert again.status == right.status


@pytest_twisted.ensureDeferred
async def test_old_keys_and_tasks_work(moved, serve) -> None:
    site = await serve()
    ann = site.client()
    task_reply = await ann.get("/api/project/3/newtask?api_key=key-7")
    assert task_reply.status == 200 and task_reply.json()["id"] == 13
    body = {"project_id": 3, "task_id": 13, "info": {"answer": "owl"}}
    run_reply = await ann.post("/api/taskrun?api_key=key-7", json=body)
    assert run_reply.status == 200 and run_reply.json()["user_id"] == 7 and run_reply.json()["id"] > 24
    project = (await ann.get("/api/project/3?api_key=key-1")).json()
    assert project["secret_key"] == "secret-3" and project["n_task_runs"] == 5
    assert (await ann.get("/project/birds/")).status == 200
