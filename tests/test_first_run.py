"""The first command of all, in a copy of the tree with nothing prepared: ``make run``, Ctrl-C, ``make run``.

The whole installation takes as long as hundreds of tests, so it has the marker ``proof`` and CI runs it. ``make test``
shows what ``make run`` would do here; that ``crowdctl serve`` starts, ends and starts again is in test_serve.py.
"""

import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import pytest
from support.servers.live import free_port
from support.servers.programs import Program, processes_of, spent_by

ROOT = Path(__file__).parent.parent
READY = "Press Ctrl-C to stop"
MAX_SECONDS = 10  # of a processor, for a start that finds everything prepared; about twice what it takes


@pytest.fixture
def tree():
    """A copy of what git keeps of this tree, in a folder that only its owner can enter."""
    if not (ROOT / ".git").exists():
        pytest.skip("This tree is not a git clone (git clone), so it is not known which files belong to it.")
    outer = Path(tempfile.mkdtemp(prefix="crowdd-first-", dir="/tmp"))
    listed = subprocess.run(
        ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).exists():
            (outer / "crowdd" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, outer / "crowdd" / name)
    yield outer / "crowdd"
    forget(outer / "crowdd")
    shutil.rmtree(outer)


def test_the_first_command_installs_and_serves_and_the_second_only_serves(tmp_path):
    shutil.copy(ROOT / "Makefile", tmp_path)
    shutil.copy(ROOT / "setup.py", tmp_path)
    first = planned(tmp_path)
    steps = [
        first.index(word)
        for word in (
            "-m venv --clear .venv",
            "pip install",
            ".[embedded,heic,pdf,posters,signin,workbooks]",
            "crowdctl serve",
        )
    ]
    assert steps == sorted(steps)
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/bin/python").symlink_to(sys.executable)
    (tmp_path / ".venv/made-in").write_text(f"{tmp_path}\n")
    (tmp_path / ".venv/installed-embedded,heic,pdf,posters,signin,workbooks").touch()
    assert planned(tmp_path) == "exec .venv/bin/crowdctl serve\n"
    (tmp_path / ".venv/made-in").write_text("/somewhere/else\n")  # a copy of another tree's environment
    assert "-m venv --clear .venv" in planned(tmp_path)


@pytest.mark.proof
def test_without_a_package_index_one_sentence_says_so_and_the_first_line_comes_at_once(tmp_path):
    """A hundred lines of pip were printed, after three silent minutes."""
    for name in ("Makefile", "setup.py", "pyproject.toml", "etc"):
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, tmp_path / name)
    environment = {name: text for name, text in plain_environment(tmp_path).items() if not name.startswith("PIP_")}
    nowhere = {"PIP_INDEX_URL": f"http://127.0.0.1:{free_port()}/simple", "PIP_CONFIG_FILE": os.devnull}
    began = time.monotonic()
    run = subprocess.Popen(
        ["nice", "-n", "19", "make", "--no-print-directory", "run"],
        cwd=tmp_path, env={**environment, **nowhere}, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert run.stdout is not None
    line = run.stdout.readline()
    assert time.monotonic() - began < 5 and line.startswith("Making .venv") and "one to five minutes" in line
    _, errors = run.communicate(timeout=120)
    sentences = [each for each in errors.splitlines() if not each.startswith("make: ***")]
    assert [each.partition(".")[0] for each in sentences] == ["No package index can be reached"], errors


def planned(folder):
    """What ``make run`` would do in a folder."""
    words = ["make", "--dry-run", "--no-print-directory", "run"]
    done = subprocess.run(words, cwd=folder, env=plain_environment(folder), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.proof
@pytest.mark.installation
def test_from_nothing_and_again(tree):
    """As root the installation is made by an ordinary user without a home; ours is made by ``make test`` itself."""
    environment = plain_environment(tree)
    if os.geteuid() == 0:
        become = hand_over(tree, pwd.getpwnam("nobody"))
        twice(tree, {**environment, "HOME": "/nonexistent"}, **become)
        there_and_back(tree, environment, **become)
        forget(tree)
        hand_over(tree, pwd.getpwuid(0))
        once(tree, environment)
    else:
        twice(tree, environment)


def plain_environment(tree):
    """What is in the shell of somebody who has just cloned this."""
    names = ("PATH", "LANG", "TERM", "SSL_CERT_FILE", "XDG_CACHE_HOME", "HOME")
    environment = {name: text for name, text in os.environ.items() if name in names or name.startswith("PIP_")}
    environment |= {"CROWDD_HTTP_PORT": str(free_port())}
    # What tells the processes of this tree from others, see processes_of().
    return environment | {"FIRST_RUN": str(tree)}


def twice(tree, environment, **become):
    """``make run``, an answer, Ctrl-C, and once more: the answer is there."""
    answered = once(tree, environment, **become)
    second = Program(["make", "run"], cwd=tree, env=environment, **become)
    second.read_until(READY)
    assert spent_by(tree) <= MAX_SECONDS
    assert "Installing" not in second.output
    runs = ask(f"http://127.0.0.1:{environment['CROWDD_HTTP_PORT']}/api/taskrun?task_id={answered}")
    assert [run["info"] for run in runs] == ["first run"]
    second.interrupt()
    assert left_of(tree) == {}


def once(tree, environment, **become):
    """``make run``, an answer, Ctrl-C; the id of the answered task."""
    first = Program(["make", "run"], cwd=tree, env=environment, **become)
    first.read_until(READY)
    answered = answer_one(f"http://127.0.0.1:{environment['CROWDD_HTTP_PORT']}")
    first.interrupt()
    assert left_of(tree) == {}
    return answered


def there_and_back(tree, environment, **become):
    """The ordinary user takes a backup of the embedded database, and brings it back elsewhere."""
    assert [*(tree / ".venv/lib").rglob("klein/__pycache__/*.pyc")], "what is installed has byte code"

    def crowdctl(folder, *words):
        variables = {**environment, "CROWDD_DATA_DIR": folder, "CROWDD_BACKUP_PASSPHRASE": "correct horse battery"}
        done = subprocess.run(
            [tree / ".venv/bin/crowdctl", *words],
            cwd=tree,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
            **become,
        )
        assert (done.returncode, done.stderr) == (0, ""), done
        return done.stdout

    crowdctl("var", "backup", "var/backup.tar")
    crowdctl("var/elsewhere", "restore", "--yes", "--embedded", "var/backup.tar")
    assert crowdctl("var/elsewhere", "check") == ""
    show = ("project", "show", "digits", "--json")
    assert json.loads(crowdctl("var/elsewhere", *show)) == json.loads(crowdctl("var", *show))


def forget(tree):
    """Removes the data of the tree, wherever its database lies."""
    link = tree / "var/postgres"
    if link.is_symlink():
        shutil.rmtree(link.readlink().parent)
    shutil.rmtree(tree / "var", ignore_errors=True)


def left_of(tree):
    """What still runs in the tree or on its database, wherever that lies."""
    return processes_of(tree) | processes_of((tree / "var/postgres").resolve())


def hand_over(tree, entry):
    """Gives the tree to a user; returns how to become that user."""
    for path in (tree.parent, tree, *tree.rglob("*")):
        os.chown(path, entry.pw_uid, entry.pw_gid, follow_symlinks=False)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def answer_one(url):
    """Answers a task of the example as an anonymous volunteer; returns its id."""
    project = ask(f"{url}/api/project?short_name=digits")[0]
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    task = json.load(opener.open(f"{url}/api/project/{project['id']}/newtask", timeout=60))
    run = {"project_id": project["id"], "task_id": task["id"], "info": "first run"}
    post = urllib.request.Request(
        f"{url}/api/taskrun", json.dumps(run).encode(), {"Content-Type": "application/json"}, method="POST"
    )
    assert json.load(opener.open(post, timeout=60))["task_id"] == task["id"]
    return task["id"]


def ask(url):
    with urllib.request.urlopen(url, timeout=60) as response:
        return json.load(response)
