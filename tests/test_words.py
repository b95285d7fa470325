"""Words of our own that became those of the field (record 56) do not come back."""

from __future__ import annotations

import ast
import functools
import io
import re
import subprocess
import tokenize
from collections.abc import Iterable
from pathlib import Path

import pytest

from crowdd.kernel.config.settings import FORMER

ROOT = Path(__file__).parents[1]
EXEMPT = ("CHANGELOG.md", "tests/test_words.py")
TEXTS = {".py", ".md", ".html", ".txt", ".js", ".sql", ".po", ".conf", ".yaml", ".toml", ".json", ".service", ".sh"}

# Identifiers that stand nowhere in our Python.
IDENTIFIERS = frozenset(
    [
        "AsItComes",
        "_Poured",
        "Bell",
        "bell",
        "_bell",
        "Heard",
        "Lookups",
        "SystemNames",
        "Gather",
        "on_shelf",
        "Clockwork",
        "Looks",
        "Paced",
        "bury_unknown",
        "QuietError",
        "_hands",
        "Standing",
        "standing_values",
        "by_standing",
        "standings_to_project",
        "sealed_for",
        "seal_prefix",
        "set_sealed",
        "Farewell",
        "farewell_seed",
        "say_farewell",
        "TONGUES",
        "Lacking",
        "Places",
        "Wanting",
        "Lasting",
        "_lasting",
        "_tidy",
        "Arrivals",
        "Proofs",
        "Confirming",
        "Workshop",
        "Allowance",
        "make_domain",
        "shortest_password",
        "answer_seconds",
        "Gathering",
        "Shelves",
        "Shelf",
        "ShelfPages",
        "shelves",
        "clockwork",
        "Reply",
        "Resealed",
        "Resealing",
        "unseal",
        "sealed",
        "list_",
        "lasting",
        "tongues",
        "Letter",
        "Letters",
        "MAX_LETTERS",
        "take_back",
        "hold_task",
        "second_thoughts",
        "correct_run",
        "past_lease",
        "arrivals",
        "confirming",
        "workshop",
        "farewell",
        "farewells",
        "forget_farewell",
        "standing",
        "standings",
        "errand",
    ]
)
# Names of limits; English prose may say most and least.
LIMITS = re.compile(
    r"_?(?:MOST|LEAST|LONGEST|SHORTEST|LARGEST|SMALLEST)(?:_[A-Z0-9_]+)?|_?(?:most|least)(?!_common)(?:_[a-z0-9_]+)?"
)
# Files that were called so.
MODULES = (
    "errand bell targets gather lanes shelves clockwork looks pacing outage works assembly described heads conditions"
    " drawings starting broadcast loop arrivals farewell proofs confirming claims identities workshop checks archive"
    " community cells orphans series summaries browsing retries loading unloading shipped"
    " diagnosis tongues places waiting directory condition attempts links personal asking naming reaching running"
    " exporting notices outgoing second_thoughts"
)
# Words that stand nowhere in comments, documentation and messages.
PROSE = [
    "bad days?",
    "bell",
    "rung",
    "shel(?:f|ves)",
    "farewells?",
    "(?:un|re)?sealed",
    "finish_farewells",
    "reset_letter",
    "--letter",
    "anew",
]
PROSE_MAY = {
    "crowdd/core/secrets.py",  # what values are bound to
    "crowdd/core/passphrase.py",  # a key in archives
    "tests/domain/core/test_secrets.py",
    "tests/storage/test_schema.py",  # what former versions stored
    "tests/api/test_errors.py",  # a table that is renamed to break the server
    "tests/clients/test_pybossa_client.py",
    "tests/clients/test_front_ends.py",  # names of somebody's categories
    "tests/pages/projects/test_project_lists.py",  # the name of a project
}
# Generic words: what these files do not define.
DEFINITIONS: dict[str, str] = {
    "crowdd/features/operations/backup_commands.py": "Place",
    "crowdd/admin_cli/serve.py": "Database",
    "crowdd/kernel/config/settings.py": "Accounts Commenting Exports Live Mail Metrics Outgoing Queue Quota RateLimit Retention Site Volunteers Webhooks",
    "crowdd/features/signin/answer_claims.py": "Claims",
    "crowdd/features/signin/providers.py": "Flow Client",
    "crowdd/features/people/profiles.py": "Gathering",
    "crowdd/sched/queue.py": "Item Ending",
    "crowdd/kernel/concurrency/batching.py": "Gather Gathering",
    "crowdd/core/security_log.py": "Budget Kind",
    "crowdd/core/text/markdown_limits.py": "Budget",
    "crowdd/core/uploads.py": "Journal",
    "crowdd/core/outbound/client.py": "Reply Lookups",
    "crowdd/core/outbound/outbound_http.py": "Line Meter why",
    "crowdd/features/projects/project_lists.py": "Found Shelves Page",
    "crowdd/features/projects/projects.py": "Readiness",
    "crowdd/features/operations/keys.py": "Finding settle",
    "crowdd/features/tasks/barring.py": "Outcome",
    "crowdd/features/tasks/task_list.py": "Page",
    "crowdd/features/exports/exports.py": "File",
    "crowdd/features/gallery/folder_export.py": "Files",
    "crowdd/features/gallery/folder_import.py": "Files",
    "crowdd/sched/webhook_messages.py": "Outcome",
    "crowdd/features/webhooks/webhooks.py": "sealed opened",
    "crowdd/database/embedded/cluster.py": "Server",
    "crowdd/features/tasks/api.py": "Loop",
    "crowdd/http/api/objects.py": "small",
    "crowdd/http/html/rendering.py": "Site",
    "crowdd/features/statistics/live_updates.py": "Watched Follower",
    "crowdd/features/operations/metrics.py": "Watched",
    "crowdd/http/operation.py": "Doc Caller many some record",
    "crowdd/features/site/front_pages.py": "Text Home",
    "crowdd/features/projects/file_pages.py": "Uploads",
    "crowdd/http/responses.py": "Answer Data Raw File",
    "crowdd/http/edge/headers.py": "tag tag_of packed names ready put",
    "crowdd/http/edge/rate_limits.py": "taken block Allowance Budget",
    "crowdd/http/edge/gateway.py": "Front",
    "crowdd/http/edge/streams.py": "Client",
    "crowdd/kernel/languages/strings.py": "Text",
    "crowdd/kernel/logs.py": "File Journal",
    "crowdd/sched/job_runner.py": "Turn",
    "crowdd/sched/job.py": "Outage",
    "crowdd/sched/nodes.py": "Notices Wire",
    "crowdd/sched/queue_worker.py": "Watch Work works",
    "crowdd/database/connector.py": "Places Wanting",
    "crowdd/database/pool.py": "Queue",
    "crowdd/core/mail/statements.py": "settle",
    "crowdd/features/projects/list_statements.py": "Shelf on_shelf",
    "crowdd/features/results/statements.py": "Group",
    "crowdd/features/tasks/list_statements.py": "Place",
}
# Generic words as whole names, in the folders where they meant something of their own. Elsewhere they may mean what they
# usually do.
NAMES = {
    "": "ring heard bury lane lanes errand shelf shelves farewell canary",
    "domain/core": "early lane spot",
    "domain/projects": "details",
    "domain/tasks": "floor spot jump front draw extra entered",
    "sched": "beat early hands looks works Work Item Ending Watch turn Turn",
    "http/transport": "beat know Allowance heads drawings",
    "http/transport/limits": "place block taken",
    "http/html": "know",
    "config": "room most least",
    "storage/tasks": "floor spot jump front draw extra entered barring",
}
METRICS = [
    "crowdd_request_seconds",
    "crowdd_untranslated",
    "crowdd_pool_waiting",
    "crowdd_queue_waiting",
    "crowdd_queue_running",
    "crowdd_queue_late_seconds",
    "crowdd_webhook_late_seconds",
    "crowdd_mail_waiting",
    "crowdd_leases",
    "crowdd_counters_unfolded",
    "crowdd_job_failures",
    "crowdd_job_runs",
    "crowdd_resident_bytes",
    "crowdd_open_files",
    "crowdd_cpu_seconds",
    "crowdd_connections",
    "crowdd_streams",
]
SQL = [
    "hold_task",
    "correct_run",
    "second_thoughts",
    "past_lease",
    "sweep_past_leases",
    "open_lane",
    "next_lane",
    "lanes_of",
    "p_lane",
    "at_floor",
    "entered",
    "take_back",
    "barred\\(",
    "settle\\(",
    "walk\\(",
    "jump\\(",
    "front\\(",
    "draw\\(",
    "[a-z_]*_sealed",
    "farewell",
    "lane",
    "spot",
    "floors?(?!\\()",
    '"char"',
]


@functools.cache
def files() -> tuple[Path, ...]:
    """What is ours and text, without the records of what was."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("This tree is not a git clone (git clone), so it is not known which files belong to it.")
    paths = [ROOT / name for name in listed.stdout.splitlines() if not name.startswith(EXEMPT)]
    return tuple(
        path for path in paths if path.is_file() and (path.suffix in TEXTS or path.name in ("Makefile", "Dockerfile"))
    )


@functools.cache
def text(path: Path) -> str:
    """What is in a file; each test reads the same ones."""
    return path.read_text("utf-8", errors="replace")


def shown(path: Path, line: int, word: str) -> str:
    return f"{path.relative_to(ROOT)}:{line}: {word}"


def found_in(pattern: str, among: Iterable[Path]) -> list[str]:
    """Where the pattern stands in these files. ``^`` is the beginning of a line."""
    regex = re.compile(pattern, re.MULTILINE)
    return [
        shown(path, text(path).count("\n", 0, match.start()) + 1, match[0])
        for path in among
        for match in regex.finditer(text(path))
    ]


def test_identifiers_of_before_stand_nowhere():
    """Only files that have such a word somewhere are read as Python: that takes a hundred times as long."""
    anywhere = re.compile(rf"\b(?:{'|'.join(IDENTIFIERS)}|{LIMITS.pattern})\b")
    wrong = [
        shown(path, token.start[0], token.string)
        for path in files()
        if path.suffix == ".py" and anywhere.search(text(path))
        for token in tokenize.generate_tokens(io.StringIO(text(path)).readline)
        if token.type == tokenize.NAME and (token.string in IDENTIFIERS or LIMITS.fullmatch(token.string))
    ]
    assert not wrong, wrong


def test_generic_words_of_before_define_nothing_where_they_did():
    wrong = []
    for name, words in DEFINITIONS.items():
        tree = ast.parse((ROOT / name).read_text("utf-8"))
        defined = {
            node.name for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        }
        wrong += [f"{name}: {word}" for word in sorted(defined & set(words.split()))]
    assert not wrong, wrong


def test_names_of_before_do_not_come_back_in_their_package():
    """Also as methods, parameters, attributes and variables, with or without underscores around them."""
    wrong = []
    for folder, words in NAMES.items():
        anywhere = re.compile(rf"\b_*(?:{words.replace(' ', '|')})_*\b")
        for path in sorted((ROOT / "crowdd" / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(text(path))) if anywhere.search(text(path)) else ():
                # What an argument is called is up to the function that gets it.
                name = getattr(node, "name", None) or (node.arg if isinstance(node, ast.arg) else None)
                if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
                    name = node.id if isinstance(node, ast.Name) else node.attr
                if isinstance(name, str) and name.strip("_") in words.split():
                    wrong.append(shown(path, getattr(node, "lineno", 0), name))
    assert not wrong, wrong


def test_what_functions_hold_is_called_by_what_it_is():
    """How a value came to be there says nothing about it."""
    word = "(?:found|said|told|kept|given|there)"
    assigned = rf"^\s+(?:[\w*]+, )*{word}(?:, [\w*]+)* = |\b{word} := |\bfor (?:\w+, )*{word}(?:, \w+)* in "
    wrong = found_in(assigned, [path for path in files() if path.suffix == ".py"])
    assert not wrong, wrong


def test_settings_of_before_stand_nowhere():
    variables = [f"CROWDD_{section}_{option}".upper() for section, option in FORMER]
    in_docs = [rf"\[{section}\] {option}" for section, option in FORMER]
    assert not found_in(rf"\b(?:{'|'.join(variables)})\b|(?:{'|'.join(in_docs)})\b", files())


def test_metrics_of_before_stand_nowhere():
    assert not found_in(rf"\b(?:{'|'.join(METRICS)})(?:_count|_sum|_bucket)?\b", files())


def test_messages_name_limits_as_everybody_does():
    among = [path for path in files() if path.suffix in (".py", ".po", ".html", ".txt")]
    assert not found_in(r"^(?!.*fewest).*%\((?:most|least)\)s", among)


def test_sql_says_what_it_does():
    if not SQL:
        return
    among = [path for path in files() if path.is_relative_to(ROOT / "crowdd" / "storage")]
    assert not found_in(rf"(?<![\w\"])(?:{'|'.join(SQL)})(?![\w])", among)


def test_no_file_is_called_as_before():
    wrong = [
        str(path.relative_to(ROOT))
        for path in files()
        if path.is_relative_to(ROOT / "crowdd") and path.stem in MODULES.split()
    ]
    assert not wrong, wrong


def test_prose_has_none_of_our_own_words():
    among = [path for path in files() if str(path.relative_to(ROOT)) not in PROSE_MAY]
    assert not found_in(rf"(?i)(?<![\w-])(?:{'|'.join(PROSE)})(?![\w-])", among)
