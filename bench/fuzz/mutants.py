"""Which test notices when a line that protects is broken: each is broken in a copy of the tree and its tests are run.

python -m bench.fuzz.mutants [WORD ...]      all, or those whose name contains a word
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import attrs
import click

ROOT = Path(__file__).parents[2]
DEFINITIONS = ROOT / "crowdd/database/definitions"
COPIED = ("crowdd", "tests", "bench", "examples", "etc", "docs", "pyproject.toml", "setup.py", "twisted")
SECONDS = 240


@attrs.frozen
class Mutant:
    """``old`` becomes ``new`` in a file; at least one of ``tests`` must fail then.

    A file without a folder is one of definitions, and a test without one is of the ledger.
    """

    name: str
    file: str
    old: str
    new: str
    tests: str  # file of tests and words for -k
    more: tuple[tuple[str, str, str], ...] = ()  # what else is broken with it: file, old, new

    @property
    def changes(self) -> tuple[tuple[str, str, str], ...]:
        """File, old and new text of everything that is broken."""
        return ((self.file, self.old, self.new), *self.more)


SAFEGUARDS = (
    Mutant(
        "safeguard: the unique key on answers",
        "database/schema/40_answers.sql",
        ",\n    CONSTRAINT one_run_per_person UNIQUE (project_id, task_id, actor)",
        "",
        "test_submitting two_runs",
    ),
    Mutant(
        "safeguard: the lease check",
        "20_submission.sql",
        "state := CASE WHEN FOUND THEN 'duplicate' ELSE 'no lease' END;\n            RETURN;",
        "IF FOUND THEN state := 'duplicate'; RETURN; END IF;\n"
        "            SELECT p_now AS granted, p_now + interval '1 hour' AS expires INTO l;",
        "api/test_task_runs lease or handed",
    ),
    Mutant(
        "safeguard: the rollback on cancellation",
        "database/transaction.py",
        "            if not self._connection.idle:\n",
        "            if False:\n",
        "storage/test_pool cancels_its_own",
        more=(("database/pool.py", "if connection.idle and self._closed is None:", "if self._closed is None:"),),
    ),
    Mutant(
        "safeguard: the owner check",
        "core/records/role_statements.py",
        '"coalesce(p.owners_ids @> ARRAY[%(me)s::bigint], false)"',
        '"true"',
        "matrix/test_rights project and update",
    ),
    Mutant(
        "safeguard: the token of forms",
        "http/auth/csrf.py",
        "if not good or not self.same_site(incoming):",
        "if False:",
        "api/test_cookie_writes token",
    ),
    Mutant(
        "safeguard: the size limit",
        "http/edge/site.py",
        "if length is not None and length > limit:",
        "if False:",
        "api/test_errors limit",
        more=(("http/edge/site.py", "if self._left < 0:", "if False:"),),
    ),
)

# What stress does not replace: the interleavings of scan, stamp and lock, one by one.
MUTANTS = (
    Mutant(
        "answers are counted before the lock",
        "20_submission.sql",
        "AND task_id = p_task FOR UPDATE;\n    IF NOT FOUND OR is_trial",
        "AND task_id = p_task;\n    IF NOT FOUND OR is_trial",
        "test_races two_late_answers",
    ),
    Mutant(
        "who tries a draft does not hold its project",
        "20_submission.sql",
        "FROM project_ledger WHERE project_id = p_project FOR SHARE; END IF;",
        "FROM project_ledger WHERE project_id = p_project; END IF;",
        "test_races publishing",
    ),
    Mutant(
        "an answer counts though its network has its share",
        "20_submission.sql",
        "surplus := maximum > 0 AND maximum",
        "surplus := false AND maximum",
        "test_networks answers_of_a_network_at_once",
    ),
    Mutant(
        "a surplus answer is counted later",
        "22_networks.sql",
        "CONTINUE WHEN maximum > 0 AND r.user_ip IS NOT NULL",
        "CONTINUE WHEN false AND r.user_ip IS NOT NULL",
        "test_networks surplus_answer_does_not_count",
    ),
    Mutant(
        "a task is handed out to a network that has its share",
        "30_assignment.sql",
        "AND (v.shared IS NULL OR p.counted_per_network",
        "AND (true OR p.counted_per_network",
        "test_networks handed_out_once",
        (
            (
                "32_candidate_scan.sql",
                "shared := v.shared IS NOT NULL AND network_share",
                "shared := false AND network_share",
            ),
        ),
    ),
    Mutant(
        "in a batch each of a network gets the same task",
        "70_batches.sql",
        "DISTINCT ON (project, CASE WHEN maximum > 0 THEN network ELSE actor END) *",
        "DISTINCT ON (project, actor) *",
        "test_together network",
        (("70_batches.sql", "project, CASE WHEN maximum > 0 THEN network ELSE actor END, nth", "project, actor, nth"),),
    ),
    Mutant(
        "in a batch a network gets more than its share",
        "70_batches.sql",
        "OR CASE WHEN u.maximum > 0 THEN",
        "OR CASE WHEN false THEN",
        "test_together network",
    ),
    Mutant(
        "in a batch a task that keeps a place is passed",
        "70_batches.sql",
        " AND NOT EXISTS (SELECT FROM unnest(refused) r WHERE places[r] >= first_ AND places[r] < place)",
        "",
        "test_together passes",
    ),
    Mutant(
        "in a batch a task that was locked is passed for ever",
        "70_batches.sql",
        " AND NOT g.stays",
        "",
        "test_together passes",
    ),
    Mutant(
        "in a batch more answers count than a task wants",
        "70_batches.sql",
        "         WHERE turn <= free),",
        "         ),",
        "test_together no_more_count",
    ),
    Mutant(
        "in a batch a person answers once as each of their actors",
        "70_batches.sql",
        "CASE WHEN w.others <> '{}' THEN NOT EXISTS",
        "CASE WHEN false THEN NOT EXISTS",
        "test_together person",
    ),
    Mutant(
        "answers of a batch count without a lock",
        "70_batches.sql",
        "AND task_id = a.task FOR UPDATE) t);",
        "AND task_id = a.task) t);",
        "test_together two_batches",
    ),
    Mutant(
        "the low-water mark of a network passes what it may take",
        "32_candidate_scan.sql",
        "raising := raising AND shared;",
        "",
        "test_networks",
    ),
    Mutant(
        "a lease that is firm by now is taken over",
        "34_takeover.sql",
        "CONTINUE WHEN s = 0 OR s = 1 AND NOT room;",
        "",
        "test_soft_leases firm",
    ),
    Mutant(
        "a lease is prolonged for ever",
        "30_assignment.sql",
        "least(p_now + p_lease, p_granted + 6 * p_lease)",
        "p_now + p_lease",
        "test_soft_leases six_lease_times",
    ),
    Mutant(
        "a swept skip is passed for ever",
        "38_stale_rows.sql",
        "DELETE FROM position WHERE (project_id, actor, scan) IN (",
        "PERFORM FROM position WHERE (project_id, actor, scan) IN (",
        "test_bars_and_sweeps skipped_task_comes_again",
    ),
    Mutant(
        "answers set aside count when a place is free",
        "22_networks.sql",
        "AND NOT counted AND aside IS NULL ORDER BY id LOOP",
        "AND NOT counted ORDER BY id LOOP",
        "test_bars_and_sweeps set_aside",
    ),
    Mutant(
        "a person answers once as each of their actors",
        "20_submission.sql",
        "IF cardinality(actors) > 1 THEN\n        SELECT id INTO run",
        "IF false THEN\n        SELECT id INTO run",
        "ledger/lifecycle/test_same_person second_answer or at_once",
    ),
    Mutant(
        "double answers of a link are looked for once",
        "23_same_person.sql",
        "SET due = CASE WHEN due = '0' THEN pg_snapshot_xmax(pg_current_snapshot()) END",
        "SET due = NULL",
        "ledger/lifecycle/test_same_person under_way",
    ),
    Mutant(
        "external users of one id are one person in all projects",
        "23_same_person.sql",
        "WHERE actor = p_actor AND project_id IN (0, p_project) LIMIT",
        "WHERE actor = p_actor LIMIT",
        "ledger/lifecycle/test_same_person external_users",
    ),
    Mutant(
        "a link waits for the transaction that has it",
        "23_same_person.sql",
        "IF NOT pg_try_advisory_xact_lock(link_key(p_one, p_other, p)) THEN RETURN; END IF;",
        "",
        "ledger/lifecycle/test_same_person never_waits",
    ),
    Mutant(
        "a place that became free is not stamped",
        "20_submission.sql",
        "uncounted = uncounted - k, requeued_xid = stamp(p_project)",
        "uncounted = uncounted - k",
        "test_races freed_behind or returns_stays",
    ),
    Mutant(
        "stamps are numbers in order instead of transactions",
        "20_submission.sql",
        "RETURN pg_current_xact_id()::text::bigint +",
        "RETURN (extract(epoch FROM clock_timestamp()) * 1000000)::bigint +",
        "test_races freed_behind or returns_stays or oldest",
        more=(
            (
                "32_candidate_scan.sql",
                "horizon := pg_snapshot_xmin(pg_current_snapshot())::text::bigint +",
                "horizon := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint +",
            ),
        ),
    ),
    Mutant(
        "a late answer is not counted when its place comes back",
        "20_submission.sql",
        "IF t.uncounted > 0 AND free > 0 AND NOT t.retired THEN",
        "IF false THEN",
        "test_submitting late_answer",
    ),
    Mutant(
        "late answers of retired tasks count",
        "20_submission.sql",
        "AND NOT t.retired AND NOT surplus",
        "AND NOT surplus",
        "test_changes retired",
    ),
    Mutant(
        "the same person may ask twice at once",
        "30_assignment.sql",
        "IF p_wait THEN PERFORM pg_advisory_xact_lock(hashtextextended(p_actor, p_project));",
        "IF p_wait THEN PERFORM 1;",
        "test_races asking_twice or offset_zero",
    ),
    Mutant(
        "nobody waits for the last task",
        "30_assignment.sql",
        "IF p_wait AND w.got = '{}' AND blocked IS NOT NULL",
        "IF false AND w.got = '{}' AND blocked IS NOT NULL",
        "test_races waited_for",
    ),
    Mutant(
        "somebody waits and holds a task",
        "30_assignment.sql",
        "AND NOT cut AND lapsed = 0 AND late = '{}'",
        "AND NOT cut",
        "test_races waits_for_nobody",
    ),
    Mutant(
        "a level is not looked at again under the lock",
        "30_assignment.sql",
        "AND open AND (p_level IS NULL OR level = p_level) FOR UPDATE SKIP LOCKED;",
        "AND open FOR UPDATE SKIP LOCKED;",
        "test_races level_found",
    ),
    Mutant(
        "a task is leased that the caller has just answered",
        "30_assignment.sql",
        "AND task_id = p_task AND actor = v.actor)\n                     AND (v.shared IS NULL OR",
        "AND task_id = p_task AND false)\n                     AND (v.shared IS NULL OR",
        "test_races answers_at_this_moment",
    ),
    Mutant(
        "lapsed leases are waited for",
        "30_assignment.sql",
        "AND task_id = r.task_id FOR UPDATE SKIP LOCKED;\n        CONTINUE WHEN NOT FOUND;\n        n := n + 1;",
        "AND task_id = r.task_id FOR UPDATE;\n        CONTINUE WHEN NOT FOUND;\n        n := n + 1;",
        "test_races two_who_take_back",
    ),
    Mutant(
        "a changed scheduler is the end of the tasks",
        "30_assignment.sql",
        " OR p.epoch <> (SELECT epoch FROM project_ledger WHERE project_id = p_project) THEN 'again'",
        " THEN 'again'",
        "test_races scheduler_changed",
    ),
    Mutant(
        "descending orders do not have what is added brought back",
        "30_assignment.sql",
        "UPDATE project_ledger SET two_way = true WHERE project_id = p_project;",
        "PERFORM 1;",
        "test_orders later or waits",
    ),
    Mutant(
        "a position passes a locked row",
        "32_candidate_scan.sql",
        "IF blocked IS NULL THEN s := (r.k1, r.k2, false, false); END IF;",
        "s := (r.k1, r.k2, false, false);",
        "test_races passed_by",
    ),
    Mutant(
        "a position passes transactions that still run",
        "32_candidate_scan.sql",
        "IF stamped AND s.k1 >= horizon THEN",
        "IF false THEN",
        "test_races freed_behind or oldest",
    ),
    Mutant(
        "the low-water mark passes transactions that still run",
        "32_candidate_scan.sql",
        "THEN g1 := horizon; g2 := 0; ELSE",
        "THEN g1 := horizon + 1000000; g2 := 0; ELSE",
        "test_races returns_stays or oldest",
    ),
    Mutant(
        "a skip passes what one could take",
        "32_candidate_scan.sql",
        "SELECT k1, k2 - 1 AS k2 FROM w\n             WHERE NOT shared AND NOT task_id",
        "SELECT k1, k2 AS k2 FROM w\n             WHERE NOT shared AND NOT task_id",
        "test_positions jump",
    ),
    Mutant(
        "a returned task that is passed over is lost",
        "32_candidate_scan.sql",
        "IF FOUND THEN s := (stay.k1, stay.k2, false, false); END IF;",
        "",
        "test_orders later",
    ),
    Mutant(
        "the next level comes before a locked task",
        "32_candidate_scan.sql",
        "EXIT WHEN word = 'level' AND (w.cut OR w.blocked IS NOT NULL);",
        "EXIT WHEN word = 'level' AND w.cut;",
        "test_fairness newcomers",
    ),
    Mutant(
        "two imports at once",
        "40_changes.sql",
        "WHERE project_id = p_project FOR UPDATE;\n    IF NOT FOUND THEN RETURN NULL; END IF;",
        "WHERE project_id = p_project;\n    IF NOT FOUND THEN RETURN NULL; END IF;",
        "test_races added_by or agree_on_the_end",
    ),
    Mutant(
        "what sorts before the end is not brought back",
        "40_changes.sql",
        "OR -(e->>'priority_0')::float8 < p.max_rank THEN",
        "THEN",
        "test_handing_out before_the_end",
    ),
    Mutant(
        "a changed priority is not brought back",
        "40_changes.sql",
        "SET priority_0 = p_priority, requeued_xid = stamp(p_project)",
        "SET priority_0 = p_priority",
        "test_handing_out moved",
    ),
    Mutant(
        "a retired task keeps its leases",
        "40_changes.sql",
        "WITH gone AS (DELETE FROM lease WHERE project_id = p_project AND task_id = t.task_id RETURNING *)",
        "WITH gone AS (DELETE FROM lease WHERE false RETURNING *)",
        "test_changes retired",
    ),
    Mutant(
        "withdrawing forgets what is held",
        "40_changes.sql",
        "DELETE FROM lease WHERE project_id = p_project AND actor = p_actor AND task_id = r.task_id;\n"
        "        IF FOUND THEN",
        "IF false THEN",
        "test_changes withdraw",
    ),
    Mutant(
        "a preview forgets late answers",
        "46_previews.sql",
        "least(countable(t.project_id, t.task_id, p_but), greatest(0,",
        "least(0, greatest(0,",
        "test_changes preview",
    ),
    Mutant(
        "publishing leaves completed tasks completed",
        "44_projects.sql",
        "SET answers = 0, uncounted = 0, done = false, requeued_xid",
        "SET answers = 0, uncounted = 0, requeued_xid",
        "test_project_life publishing",
    ),
    Mutant(
        "tasks added while the scheduler changes keep their mode",
        "44_projects.sql",
        "WHILE last IS NOT NULL LOOP last := convert_tasks(p_project, p_sched, last, 1000, p_now); END LOOP;",
        "",
        "test_changes scheduler_changed",
    ),
    Mutant(
        "the short way does not see what came back",
        "32_candidate_scan.sql",
        "RETURN NOT (f.at_low_water_mark AND",
        "RETURN true OR NOT (f.at_low_water_mark AND",
        "test_handing_out who_has_passed_it",
    ),
    Mutant(
        "the short way takes what the caller has skipped",
        "32_candidate_scan.sql",
        "IF NOT FOUND OR r.answered OR r.skipped OR",
        "IF NOT FOUND OR r.answered OR",
        "test_handing_out before_its_turn",
    ),
    Mutant(
        "nobody waits for the leases beyond the first two hundred",
        "30_assignment.sql",
        "RETURN CASE WHEN n = 200 THEN l.expires END;",
        "RETURN NULL;",
        "test_handing_out two_hundred",
    ),
)


def tried(mutants: list[Mutant]) -> Iterator[tuple[Mutant, str]]:
    """Each mutant with the first test that failed, "" where none did."""
    with tempfile.TemporaryDirectory(prefix="crowdd-mutants-", dir="/tmp") as name:
        tree = Path(name)
        for part in COPIED:
            source = ROOT / part
            copy = shutil.copytree if source.is_dir() else shutil.copy
            copy(source, tree / part)
        for mutant in mutants:
            whole = {file: _place(tree, file).read_text("utf-8") for file, _, _ in mutant.changes}
            try:
                for file, old, new in mutant.changes:
                    _place(tree, file).write_text(mutated(whole[file], mutant.name, old, new), "utf-8")
                yield mutant, first_failure(tree, mutant)
            finally:
                for file, text in whole.items():
                    _place(tree, file).write_text(text, "utf-8")


def _place(tree: Path, file: str) -> Path:
    return tree / "crowdd" / file if "/" in file else next((tree / DEFINITIONS.relative_to(ROOT)).rglob(file))


def mutated(text: str, name: str, old: str, new: str) -> str:
    """The file with the line broken. Raises ValueError where the line is not there any more."""
    if old not in text:
        raise ValueError(f"What {name!r} breaks is not there any more.")
    return text.replace(old, new)


def first_failure(tree: Path, mutant: Mutant) -> str:
    """The name of the first test that fails in a tree."""
    file, _, words = mutant.tests.partition(" ")
    path = f"tests/{file}.py" if "/" in file else f"tests/ledger/{file}.py"
    command = [sys.executable, "-m", "pytest", "-q", "-x", path, "-k", words]
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    done = subprocess.run(
        command,
        cwd=tree,
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])
    return failed[0].partition("::")[2].partition(" - ")[0] if failed else ""


@click.command()
@click.argument("words", nargs=-1)
def main(words: tuple[str, ...]) -> None:
    """Breaks what protects line by line and says which test noticed. Exit status 1: one was not noticed."""
    chosen = [mutant for mutant in (*SAFEGUARDS, *MUTANTS) if not words or any(word in mutant.name for word in words)]
    survivors = 0
    for mutant, noticed in tried(chosen):
        click.echo(f"{mutant.name:<60} {noticed or 'SURVIVED'}")
        survivors += not noticed
    sys.exit(bool(survivors))


if __name__ == "__main__":
    main()
