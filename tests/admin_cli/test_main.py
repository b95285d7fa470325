"""``crowdctl`` itself: help, configuration, and how it ends when it cannot begin."""

import signal
import subprocess
import sys

import psycopg2
import pytest
from support.servers.live import BIN

from crowdd.admin_cli.main import ADDED_COMMANDS, COMMANDS
from crowdd.database import nodes
from crowdd.database.embedded.cluster import wait_until

# Each of these weighs 10 to 60 ms at every start.
HEAVY = {"webauthn", "jwt", "pyotp", "segno", "zxcvbn", "PIL.Image", "markdown_it", "nh3", "jinja2", "rich", "treq"}
HEAVY |= {"charset_normalizer", "email.headerregistry"}


def test_help_names_every_command(crowdctl):
    ended = crowdctl("--help")
    assert ended.status == 0
    assert all(f"  {name} " in ended.output for name in COMMANDS)


def test_a_command_imports_no_more_than_it_needs():
    """Half a second at each start, and at each Tab in a shell."""

    first = "crowdd.admin_cli.main"
    groups = [module for module, _ in COMMANDS.values()]
    groups += [module for added in ADDED_COMMANDS.values() for module in added]
    # One process that imports one after the other: what none may import is there after none.
    code = "import importlib, sys\nfor name in sys.argv[1:]: importlib.import_module(name); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, first, *groups], capture_output=True, text=True, check=True)
    imported = dict(zip([first, *groups], (line.split() for line in done.stdout.splitlines()), strict=True))
    assert not {*imported.pop(first)} & {
        "twisted",
        "crowdd.core",
        "crowdd.database",
        "crowdd.features",
        "rich",
        "jinja2",
    }
    web = {"klein", "twisted.web", "treq", "crowdd.web", "babel", "twisted.mail"}
    assert imported
    for name, modules in imported.items():
        assert not {*modules} & (web | HEAVY), name


def test_a_command_at_work_imports_no_more_than_it_needs(crowdctl):
    """What a look at an account, and a change of it, do not need."""
    crowdctl.json("user", "create", "--name", "ada", "--email", "ada@example.org", "--password", "a good password")
    start = "import sys, atexit; atexit.register(lambda: print(*sys.modules, file=sys.stderr))"
    for words in (("user", "show", "ada"), ("admin", "add", "ada")):
        program = f"{start}; sys.argv = {['crowdctl', *words]}; from crowdd.admin_cli.main import main; main()"
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, env=crowdctl.environment, capture_output=True, text=True, check=True)
        assert not {*done.stderr.split()} & (HEAVY - {"rich"}), words


def test_commands_that_need_no_database_do_not_import_it(crowdctl):
    """Every command took 0.6 seconds and more, also one that prints a line of the configuration."""
    start = "import sys, atexit; atexit.register(lambda: print(*sys.modules, file=sys.stderr))"
    for words in (("config", "where"), ("config", "show"), ("completion", "bash")):
        program = f"{start}; sys.argv = {['crowdctl', *words]}; from crowdd.admin_cli.main import main; main()"
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, env=crowdctl.environment, capture_output=True, text=True, check=True)
        assert not {*done.stderr.split()} & {"twisted", "psycopg2", "crowdd.database", "crowdd.core.base"}, words


def test_no_garbage_is_looked_for_among_what_a_command_has_imported(crowdctl):
    """Python looks through everything when it ends, which took a fifth of the time of a short command."""
    look = "print(gc.isenabled(), gc.get_freeze_count() > 50_000, file=sys.stderr)"
    words = ["crowdctl", "user", "list"]
    program = f"import sys, gc, atexit; atexit.register(lambda: {look}); sys.argv = {words};"
    program += " from crowdd.admin_cli.main import main; main()"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=crowdctl.environment, capture_output=True, text=True, check=True)
    assert done.stderr.split() == ["True", "True"]


@pytest.mark.parametrize("words", [("nothing",), ("db", "nothing"), ("db", "status", "--nothing"), ("user",)])
def test_wrong_usage_is_status_2(crowdctl, words):
    assert crowdctl(*words).status == 2


def test_configuration_file_counts_and_the_environment_wins(crowdctl, tmp_path):
    (tmp_path / "own.conf").write_text("[http]\nbase_url = https://crowd.example\n")
    assert crowdctl.json("-c", "own.conf", "admin", "link")["url"].startswith("https://crowd.example/account/")
    named = {"CROWDD_CONFIG": "own.conf", "CROWDD_HTTP_BASE_URL": "https://other.example"}
    assert crowdctl.json("admin", "link", **named)["url"].startswith("https://other.example/account/")


def test_configuration_file_that_is_not_there(crowdctl):
    assert "gone.conf" in crowdctl.refused("-c", "gone.conf", "db", "status")


def test_setting_that_cannot_be(crowdctl):
    assert "CROWDD_HTTP_PORT" in crowdctl.refused("db", "status", CROWDD_HTTP_PORT="many")


def test_no_database_configured(crowdctl):
    assert "[db] dsn" in crowdctl.refused("db", "status", CROWDD_DB_DSN="")


def test_database_that_does_not_exist(crowdctl, dsn):
    assert "nowhere" in crowdctl.refused("db", "status", CROWDD_DB_DSN=f"{dsn} dbname=nowhere")


def test_database_that_does_not_answer(crowdctl, tmp_path):
    away = {"CROWDD_DB_DSN": f"host={tmp_path} dbname=crowdd", "CROWDD_DB_POOL_TIMEOUT": "1"}
    assert "not answered for 1 seconds" in crowdctl.refused("admin", "list", status=3, **away)


def test_data_folder_that_cannot_be(crowdctl, tmp_path):
    (tmp_path / "file").write_text("")
    assert "[data] dir" in crowdctl.refused("admin", "list", CROWDD_DATA_DIR=str(tmp_path / "file/data"))


def test_interrupt_ends_it_without_a_traceback(crowdctl, dsn, rows):
    waiting = "SELECT count(*) AS n FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    holder = psycopg2.connect(dsn)
    with holder, holder.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", (nodes.UPGRADE_LOCK,))
        command = [BIN / "crowdctl", "db", "upgrade"]
        with subprocess.Popen(command, env=crowdctl.environment, stderr=subprocess.PIPE, text=True) as process:
            assert wait_until(lambda: rows(waiting)[0]["n"] == 1, 60)
            process.send_signal(signal.SIGINT)
            assert process.stderr.read().strip() == "Aborted!"
        assert process.returncode == 1
    holder.close()
