"""Rows that break our rules come over changed, or are refused with a sentence; sums add up, and no counter differs."""

from __future__ import annotations

from moving.conftest import AT, projects, remarks, sums, users


def move(crowdctl, source):
    report = crowdctl.json("import-pybossa", "--dsn", source.dsn)
    for read, added, present, refused in sums(report).values():
        assert read == 0 or read == added + present + refused
    assert crowdctl.json("check") == []
    return report


def test_names_and_addresses_that_are_refused_or_taken_get_the_id(crowdctl, filled, rows) -> None:
    filled.add(
        "user",
        *users(
            {"id": 8, "name": "Ann", "email_addr": "ANN@example.org"},
            {"id": 9, "name": "a/b c", "email_addr": "no address"},
            {"id": 10, "name": "signin", "email_addr": "sign@example.org"},
            {"id": 12, "name": "hidden", "email_addr": "hidden@example.org", "restrict": True},
        ),
    )
    report = move(crowdctl, filled)
    assert rows('SELECT id, name, email_addr, "restrict" AS blocked FROM account WHERE id > 7 ORDER BY 1') == [
        {"id": 8, "name": "Ann-8", "email_addr": "user-8@example.invalid", "blocked": False},
        {"id": 9, "name": "a-b-c-9", "email_addr": "user-9@example.invalid", "blocked": False},
        {"id": 10, "name": "signin-10", "email_addr": "sign@example.org", "blocked": False},
        {"id": 12, "name": "hidden", "email_addr": "hidden@example.org", "blocked": False},
    ]
    user_remarks = remarks(report, "user")
    assert [8, 9, 10] in user_remarks.values() and [8, 9] in user_remarks.values() and [12] in user_remarks.values()


def test_names_that_look_alike_come_over_and_invisible_characters_do_not(crowdctl, filled, rows) -> None:
    """Whoever signs in with such a name goes on, and nobody else takes one like it."""
    filled.add(
        "user",
        *users(
            {"id": 8, "name": "аnn", "fullname": "Ann\u200b  Other"},
            {"id": 9, "name": "ann\u200b", "fullname": "\u202e"},
            {"id": 10, "name": "star★"},
        ),
    )
    filled.add("project", *projects({"id": 4, "short_name": "bіrds", "name": "Bіrds\u200b"}))
    report = move(crowdctl, filled)
    assert rows("SELECT id, name, fullname, name_skeleton = '' AS alike FROM account WHERE id > 7 ORDER BY 1") == [
        {"id": 8, "name": "аnn", "fullname": "Ann Other", "alike": True},
        {"id": 9, "name": "ann-9", "fullname": "ann-9", "alike": False},
        {"id": 10, "name": "star-10", "fullname": "User 10", "alike": False},
    ]
    assert rows("SELECT name, short_name, name_skeleton || short_name_skeleton AS look FROM project WHERE id = 4") == [
        {"name": "Bіrds", "short_name": "bіrds", "look": ""}
    ]
    cleaned = "A name had invisible characters, or spaces that names do not have. They were removed."
    assert remarks(report, "user")[cleaned] == [8, 9] and remarks(report, "project")[cleaned] == [4]
    refused = crowdctl(
        "user", "create", "--name", "\u0251nn", "--email", "y@example.org", "--password", "a good password"
    )
    assert refused.status == 1 and "looks like" in refused.complaint


def test_projects_that_break_rules(crowdctl, filled, rows) -> None:
    filled.add(
        "project",
        *projects(
            {"id": 4, "short_name": "new", "name": "BIRDS"},
            {"id": 5, "short_name": "nobody", "owner_id": None, "owners_ids": [99]},
            {"id": 6, "short_name": "draft", "published": False, "category_id": 77},
            {"id": 7, "short_name": "offline", "published": False, "contacted": True},
            {"id": 8, "short_name": "hook", "webhook": "http://127.0.0.1/x"},
            {"id": 9, "short_name": "odd", "info": {"sched": "no", "answers": 3, "autoimporter": {"type": "csv"}}},
        ),
    )
    report = move(crowdctl, filled)
    records = rows(
        "SELECT id, name, short_name, owner_id, published, first_published IS NULL AS draft, webhook FROM project ORDER BY 1"
    )
    assert [tuple(row.values()) for row in records] == [
        (3, "Birds", "birds", 1, True, False, None),
        (4, "BIRDS 4", "new-4", 1, True, False, None),
        (5, "Nobody", "nobody", 1, True, False, None),
        (6, "Draft", "draft", 1, False, True, None),
        (7, "Offline", "offline", 1, False, False, None),
        (8, "Hook", "hook", 1, True, False, None),
        (9, "Odd", "odd", 1, True, False, None),
    ]
    assert rows("SELECT info FROM project WHERE id = 9") == [{"info": {"pybossa_sched": "no", "pybossa_answers": 3}}]
    assert sums(report)["project"] == (7, 7, 0, 0) and [5] in remarks(report, "project").values()


def test_a_project_without_owner_and_administrator_is_refused_with_all_it_has(crowdctl, filled, rows) -> None:
    filled.run('UPDATE "user" SET admin = false')
    filled.run("UPDATE project SET owner_id = 99, owners_ids = '{}'")
    report = move(crowdctl, filled)
    refused = {name: parts[3] for name, parts in sums(report).items() if parts[3] and name != "files"}
    assert refused == {"project": 1, "task": 3, "task_run": 4, "result": 2, "blogpost": 1, "helpingmaterial": 1}
    assert (report["compared"]["missing_tasks"], report["compared"]["missing_answers"]) == (3, 4)


def test_tasks_and_answers_that_break_rules(crowdctl, filled, rows) -> None:
    odd = r'{"a": "x\u0000y", "b": "\ud800", "n": 1e400}'
    filled.run(
        "INSERT INTO task (id, created, project_id, state, n_answers, info) VALUES (14, NULL, 3, 'completed', 5, '[1, 2]'),"
        f" (15, 'no time', 3, 'ongoing', 0, '{odd}'), (16, '{AT}', 3, 'ongoing', 1, NULL),"
        " (17, '2999-01-01T00:00:00', 3, 'ongoing', 2, '\"text\"')"
    )
    filled.run(
        "INSERT INTO task_run (id, created, project_id, task_id, user_id, user_ip, external_uid, finish_time, info) VALUES"
        f" (25, '{AT}', 3, 11, 7, NULL, NULL, '{AT}', '1'), (26, '{AT}', 3, 999, 7, NULL, NULL, '{AT}', '1'),"
        f" (27, '{AT}', 4, 11, 7, NULL, NULL, '{AT}', '1'), (28, NULL, 3, 16, 99, NULL, NULL, NULL, NULL),"
        f" (29, '{AT}', 3, 17, NULL, NULL, NULL, '2001-01-01T00:00:00', '[]'), (30, '{AT}', 3, 17, NULL, 'no address', NULL, '{AT}', 'null'),"
        f" (31, '{AT}', 3, 14, NULL, '::1', NULL, '{AT}', '2')"
    )
    report = move(crowdctl, filled)
    assert sums(report)["task"] == (7, 7, 0, 0) and sums(report)["task_run"] == (11, 8, 0, 3)
    run_remarks = remarks(report, "task_run")
    assert run_remarks["The same volunteer has another answer to the task."] == [25]
    assert run_remarks["Its task was refused, or is not a task of its project."] == [26]
    assert run_remarks["Its project was refused or does not exist."] == [27]
    assert remarks(report, "states") and remarks(report, "states").popitem()[1] == [14]
    states = rows(
        "SELECT t.id, t.state, l.retired, l.n_answers, l.done FROM task_record t JOIN task_ledger l ON l.task_id = t.id WHERE t.id > 13 ORDER BY 1"
    )
    assert [tuple(row.values()) for row in states] == [
        (14, "completed", True, 5, False),
        (15, "ongoing", False, 1, False),
        (16, "completed", False, 1, True),
        (17, "completed", False, 2, True),
    ]
    assert sums(report)["completions"][1] == 2
    assert rows("SELECT actor FROM task_run WHERE id IN (28, 29, 30) ORDER BY id") == [
        {"actor": "x:pybossa-user-99"},
        {"actor": "x:pybossa-run-29"},
        {"actor": "x:pybossa-no address"},
    ]
    assert rows("SELECT info->>'a' AS a, info->>'b' AS b FROM task WHERE id = 15") == [{"a": "x\ufffdy", "b": "\ufffd"}]
    assert rows("SELECT bool_and(created <= now()) AS past FROM task") == [{"past": True}]


def test_columns_that_a_version_does_not_have_and_tables_that_are_not_there(crowdctl, filled, rows) -> None:
    filled.run("ALTER TABLE task_run DROP calibration, DROP media_url, ADD gold_answers json")
    filled.run("ALTER TABLE blogpost DROP published, DROP updated, DROP info")
    filled.run("DROP TABLE announcement, result")
    report = move(crowdctl, filled)
    assert "gold_answers" in report["not_read"]["columns"]["task_run"]
    assert rows("SELECT published FROM blogpost") == [{"published": True}]
    assert sums(report)["completions"][1] == 1 and rows("SELECT task_run_ids FROM result") == [
        {"task_run_ids": [21, 22]}
    ]


def test_a_text_that_is_no_json_comes_over_under_value(crowdctl, filled, rows) -> None:
    """PyBossa before 2014 kept info as text. One row that was no JSON ended the move, without saying which."""
    filled.run("ALTER TABLE task ALTER info TYPE text")
    filled.run(
        "INSERT INTO task (id, created, project_id, state, info) VALUES (900, %s, 3, 'ongoing', '{bird: yes')", (AT,)
    )
    report = move(crowdctl, filled)
    assert rows("SELECT info FROM task WHERE id = 900") == [{"info": {"value": "{bird: yes"}}]
    assert remarks(report, "task")["`info` is not JSON. Its text was put under the key `value`."] == [900]


def test_a_row_that_cannot_be_stored_is_named_and_the_others_come_over(crowdctl, filled, rows) -> None:
    insert = "INSERT INTO task (id, created, project_id, state, info) SELECT n, %s, 3, 'ongoing', %s FROM unnest(%s) n"
    filled.run(insert, (AT, "1", [901, 903, 904]))
    filled.run(insert, (AT, '{"n": 1e400000}', [902]))
    report = move(crowdctl, filled)
    here = [row["id"] for row in rows("SELECT id FROM task WHERE id BETWEEN 901 AND 904 ORDER BY id")]
    assert here == [901, 903, 904]
    (sentence,) = [words for words, ids in remarks(report, "task").items() if ids == [902]]
    assert sentence.startswith("The row cannot be stored: ") and "numeric" in sentence
    compared = report["compared"]
    assert (compared["projects_differ"], compared["projects_explained"]) == (1, 1)
    again = crowdctl("import-pybossa", "--dsn", filled.dsn).output
    assert "1 lack exactly the rows that were refused, 0 differ otherwise. All together lack 1 tasks" in again


def test_differences_that_refused_rows_explain_are_told_from_others(crowdctl, filled, rows) -> None:
    """Six projects and 107 users that differ frightened somebody whose rows were all accounted for."""
    run = "INSERT INTO task_run (id, created, project_id, task_id, user_id, finish_time, info) VALUES (%s, %s, 3, %s, %s, %s, '1')"
    filled.run(run, (25, AT, 999, 7, AT))  # a task that does not exist
    filled.run(run, (28, AT, 13, 99, AT))  # a user who does not exist
    compared = move(crowdctl, filled)["compared"]
    assert [compared[f"projects_{how}"] for how in ("same", "differ", "explained")] == [0, 1, 1]
    assert [compared[f"users_{how}"] for how in ("same", "differ", "explained")] == [0, 2, 2]
    assert compared["missing_answers"] == 1 and compared["projects"][0]["explained"]
    rows("UPDATE task_run SET user_id = NULL, actor = 'x:lost' WHERE id = 21")
    rows("DELETE FROM stat_delta")
    again = crowdctl("import-pybossa", "--dsn", filled.dsn).output
    assert "Figures of projects: 0 agree, 0 lack exactly the rows that were refused, 1 differ otherwise." in again
    assert "Look at these projects first: 3." in again
    assert (
        "Figures of users: 0 agree, 1 lack exactly answers that were refused, or did not come over, 1 differ" in again
    )


def test_the_address_of_a_picture_that_pages_would_not_show_is_kept(crowdctl, filled, rows) -> None:
    filled.run("UPDATE helpingmaterial SET media_url = 'http://pictures/x.png'")
    move(crowdctl, filled)
    materials = rows("SELECT info->>'media_url' AS kept, media_url FROM helpingmaterial")
    assert {tuple(row.values()) for row in materials} == {("http://pictures/x.png", None)}
