"""The pages of a server, taken from its own routes; and how the names in an address are filled.

A new page is found here by itself. A new *name* in an address (``/project/<short_name>/blog/<int:blogpost_id>``) needs
a line in NAMES.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import product
from urllib.parse import quote

from crowdd.http.routing import Route

# A name in an address, and the statement that says what stands there (on a stage with rows of every kind).
NAMES = {
    "short_name": "SELECT short_name FROM project WHERE id IN (SELECT project_id FROM task) ORDER BY id LIMIT 2",
    "name": "SELECT name FROM account WHERE id IN (SELECT owner_id FROM project) ORDER BY id LIMIT 1",
    "volunteer": "SELECT word FROM volunteer_word GROUP BY project_id, word ORDER BY project_id LIMIT 2",
    "page": "SELECT '1'",
    "window": "SELECT '3'",
    "task_id": "SELECT min(id) FROM task GROUP BY project_id ORDER BY project_id LIMIT 2",
    "result_id": "SELECT min(id) FROM result GROUP BY project_id ORDER BY project_id LIMIT 2",
    "user_id": "SELECT max(id) FROM account",
    "project_id": "SELECT min(id) FROM project",
    "analysis_id": "SELECT min(id) FROM analysis GROUP BY project_id ORDER BY project_id LIMIT 2",
    "hash_": "SELECT hash FROM snapshot GROUP BY hash ORDER BY min(project_id) LIMIT 2",
    "file_name": "SELECT 'manifest.json'",
    "snapshot_id": "SELECT min(id) FROM snapshot GROUP BY project_id ORDER BY project_id LIMIT 2",
    "announcement_id": "SELECT min(id) FROM announcement",
    "category_id": "SELECT min(id) FROM category",
    "blogpost_id": "SELECT min(id) FROM blogpost GROUP BY project_id ORDER BY project_id LIMIT 2",
    "picture_id": "SELECT min(id) FROM helpingmaterial GROUP BY project_id ORDER BY project_id LIMIT 2",
    "post_id": "SELECT min(id) FROM blogpost GROUP BY project_id ORDER BY project_id LIMIT 2",
    "category": "SELECT short_name FROM category WHERE id IN (SELECT category_id FROM project) ORDER BY id LIMIT 1",
    "import_id": "SELECT min(id) FROM task_import GROUP BY project_id ORDER BY project_id LIMIT 2",
    "batch_id": "SELECT min(id) FROM media_batch GROUP BY project_id ORDER BY project_id LIMIT 2",
    "work_id": "SELECT min(id) FROM task_import GROUP BY project_id ORDER BY project_id LIMIT 2",
    "file_id": "SELECT min(id) FROM media_file GROUP BY project_id ORDER BY project_id LIMIT 2",
    "collection_id": "SELECT min(id) FROM collection",
    "group_id": "SELECT min(id) FROM volunteer_group",
    "code": "SELECT code FROM volunteer_group ORDER BY id LIMIT 1",
    "certificate_id": "SELECT min(id) FROM certificate",
    "certificate_key": "SELECT key FROM certificate ORDER BY id LIMIT 1",
    "comment_id": "SELECT min(id) FROM task_comment",
    "item_id": "SELECT min(id) FROM queue_item",
    "language": "SELECT 'en'",
    "template": "SELECT 'boxes'",
    "mail_id": "SELECT min(id) FROM mail",
    "version": "SELECT '1'",
    "delivery_id": "SELECT min(id) FROM delivery GROUP BY project_id ORDER BY project_id LIMIT 2",
}
# What no stage has by itself: work, letters, deliveries that failed, a log of jobs. ``encrypted`` is a secret of a webhook.
BESIDE = """
INSERT INTO queue_item (name, arguments, user_id, admin, via, state, created, due, error, result)
    SELECT 'withdraw', '{"words": "x"}', id, true, 'web', state, clock(), clock(), 'x', '{"words": "x"}'
      FROM account, unnest(ARRAY['dead', 'cancelled', 'done']) AS state;
INSERT INTO analysis (project_id, method, answers, parameters, created, user_id, ended, seconds, n_answers, n_unfit, n_tasks, n_volunteers, n_different,
                      choices, frequencies, input_hash, versions, rounds, converged)
    SELECT id, 'majority', 'counted', '{"x": 1}', clock(), owner_id, clock(), 1, 1, 1, 1, 1, 1, '["x"]', '{1}', 'x', '{"x": "x"}', 1, false FROM project;
INSERT INTO analysis_task SELECT t.project_id, a.id, t.id, 1, '{1}', true FROM task t JOIN analysis a USING (project_id);
INSERT INTO analysis_volunteer SELECT project_id, id, 'x', 1, 0.5, 0.5 FROM analysis;
INSERT INTO snapshot (project_id, created, user_id, public, hash, as_of, complete, manifest)
    SELECT id, clock(), owner_id, true, encode(sha256(short_name::bytea), 'hex'), clock(), true,
           '{"counts": {"tasks": 1, "answers": 1, "results": 1, "volunteers": 1}, "license": "CC0-1.0", "authors": [{"name": "x"}], "citation": "x",
             "software": {"version": "x"}, "audit_log": {"position": 1, "hash": "x"}}' FROM project;
INSERT INTO snapshot_file (snapshot_id, name, key, bytes, sha256, crc32, content) SELECT id, 'x.ndjson', 'x', 1, hash, 1, true FROM snapshot;
INSERT INTO withdrawn_volunteer (project_id, word, at) SELECT id, 'x', clock() + interval '1 hour' FROM project;
INSERT INTO mail (created, recipient, template, locale, subject, text, html, state, due, error)
    SELECT clock(), email_addr, 'export_ready', 'en', 'x', 'x', 'x', state, clock(), 'x' FROM account, unnest(ARRAY['dead', 'held']) AS state;
INSERT INTO chain_link (next_project_id, project_id, rule, created, failure, retry_at)
    SELECT (SELECT min(n.id) FROM project n WHERE n.id > p.id), p.id, '{"columns": {"x": "x"}, "answers": {}}', clock(), 'x', 'infinity' FROM project p
     WHERE EXISTS (SELECT FROM project n WHERE n.id > p.id);
UPDATE project SET webhook = 'https://receiver.example/';
UPDATE project SET info = info || '{"language": "de", "field_guide_version": 1, "field_guide": {"version": 1, "groups": [{"name": "x", "title": "x"}], "entries": [
    {"name": "x", "title": "x", "group": "x", "text": "x", "keywords": "x", "pictures": [{"url": "/static/img/mark.svg", "description": "x", "credit": "x"}]}]}}';
INSERT INTO guide_version (project_id, guide, version, created, document) SELECT id, 'field_guide', 1, clock(), info->'field_guide' FROM project;
INSERT INTO webhook (project_id, secret_encrypted, active, why_off) SELECT id, %(encrypted)s, false, 'x' FROM project ON CONFLICT (project_id) DO UPDATE SET active = false;
INSERT INTO delivery (project_id, kind, created, state, next_at, finished) SELECT id, 'ping', clock(), 'failed', clock(), clock() FROM project;
INSERT INTO delivery_attempt (project_id, delivery_id, at, url, body, status, answer, problem, seconds)
    SELECT project_id, id, clock(), 'x', '{"x": "x"}', 500, 'x', 'x', 1 FROM delivery;
INSERT INTO task_import (project_id, user_id, created, name, format, file, bytes, rows, columns, sample)
    SELECT id, owner_id, clock(), 'x', 'csv', 'x', 1, 1, '["x"]', '[{"x": "x"}]' FROM project;
INSERT INTO media_batch (project_id, user_id, created, grouping, column_name, keep_location, keep_original, n_answers)
    SELECT id, owner_id, clock(), 'file', 'x', false, false, 3 FROM project;
INSERT INTO media_file (batch_id, project_id, created, path, key, bytes, state, reason, prepared, task_id)
    SELECT b.id, b.project_id, clock(), 'x', state, 1, state, '{"one": null, "text": "x"}', '{"kind": "x", "url": "x", "thumbnail": "x"}',
           (SELECT min(id) FROM task t WHERE t.project_id = b.project_id) FROM media_batch b, unnest(ARRAY['added', 'refused']) AS state;
INSERT INTO collection (user_id, created, name, description, published) SELECT owner_id, clock(), short_name, 'x', true FROM project;
INSERT INTO collection_item (collection_id, project_id, task_id, created, note)
    SELECT c.id, t.project_id, t.id, clock(), 'x' FROM collection c, task t;
INSERT INTO volunteer_group (owner_id, created, name, size, last_day, code)
    SELECT owner_id, clock(), 'x', 30, current_date + 9, 'BCDFGH' FROM project ORDER BY id LIMIT 1;
INSERT INTO group_member (group_id, seat, name, actor, number_hash, joined, answers_before)
    SELECT id, 0, 'x', 'c:g.x', 'x', clock(), 0 FROM volunteer_group;
INSERT INTO certificate (user_id, key, created, name, first_day, last_day, answers, seconds, n_projects, projects)
    SELECT id, 'x', clock(), 'x', current_date, current_date, 1, 60, 1, '[{"name": "x", "answers": 1, "seconds": 60}]'
      FROM account WHERE id IN (SELECT owner_id FROM project) ORDER BY id LIMIT 1;
INSERT INTO task_comment (project_id, task_id, actor, created, kind, text) SELECT project_id, id, 'i:x', clock(), 'problem', 'x' FROM task;
INSERT INTO import_error (import_id, line, reason, text) SELECT id, 1, 'x', 'x' FROM task_import;
INSERT INTO job_run (name, began, seconds, outcome, words) VALUES ('fold', clock(), 1, 'failed', 'x');
INSERT INTO job (name, due, outcome, began, seconds, words) VALUES ('odd', clock(), 'failed', clock(), 1, 'x') ON CONFLICT DO NOTHING;
"""
# What is no page that a person reads: data, files, streams that never end, and what acts on GET (by a link).
_NO_PAGE = re.compile(
    r"/api/(?!docs)|/api/?$|/uploads/|/answer-files/|/static/|/health|/ready|/metrics|/palette$|/project/<short_name>/(.*/)?(events|live)$"
    r"|/project/<short_name>/tasks/media/<int:batch_id>/files|/project/<short_name>/analyses/.*csv$|/project/<short_name>/snapshots/<hash_>/(archive|files/|difference/)"
    r"|/project/<short_name>/(tutorial|fieldguide)/versions/"
    r"|/account/signout|/admin/users/(add|del)/"
)
_NAME = re.compile(r"<(?:\w+(?:\([^)]*\))?:)?(\w+)>")


def pages(routes: Iterable[Route]) -> list[str]:
    """The addresses of all pages, with the names in them, sorted."""
    return sorted({route.path for route in routes if route.method == "GET" and not _NO_PAGE.match(route.path)})


def statements(paths: Iterable[str]) -> dict[str, str]:
    """For each name in these addresses the statement that gives what stands there, in its only column."""
    names = sorted({name for path in paths for name in _NAME.findall(path)})
    unknown = [name for name in names if name not in NAMES]
    assert not unknown, f"tests/support/addresses.py does not say what stands for {unknown} in an address"
    return {name: f"SELECT t.v::text AS v FROM ({NAMES[name]}) t(v)" for name in names}


def filled(path: str, values: dict[str, list[str]]) -> Iterator[str]:
    """The address with each value of each name; values of two names are combined."""
    names = _NAME.findall(path)
    for chosen in product(*(values[name] for name in names)):
        by_name = dict(zip(names, chosen, strict=True))
        yield _NAME.sub(lambda name, by_name=by_name: quote(by_name[name[1]], safe=""), path)
