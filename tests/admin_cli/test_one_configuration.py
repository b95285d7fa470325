"""One configuration, which every command finds in the same way and names, and no database that nobody asked for."""

from __future__ import annotations

import os
import subprocess

import pytest
from support.servers.live import BIN

from crowdd.kernel.config import config_files, load, location, origins
from crowdd.kernel.errors import ConfigError

HERE_AND_THERE = "[site]\nname = {}\n"


@pytest.fixture
def checkout(tmp_path):
    """A folder that looks like the source, with its configuration."""
    for name in ("crowdd/__init__.py", "setup.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/crowdd.conf").write_text("[http]\nbase_url = https://usual.example\n")
    return tmp_path


@pytest.fixture
def system(tmp_path):
    """What stands for /etc/crowdd/crowdd.conf."""
    path = tmp_path / "system/crowdd.conf"
    path.parent.mkdir()
    path.write_text("")
    return path


def test_the_first_of_four_places_is_read(checkout, system, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "etc").mkdir(parents=True)
    (elsewhere / "etc/crowdd.conf").write_text("")  # of something else, in a folder that is no checkout
    variable = {"CROWDD_CONFIG": "variable.conf"}
    find = location.find_config
    assert str(find("named.conf", variable, checkout, system)) == "named.conf"
    assert str(find(None, variable, checkout, system)) == "variable.conf"
    assert find(None, {"CROWDD_CONFIG": ""}, checkout, system) == location.CHECKOUT_CONFIG
    assert find(None, {}, elsewhere, system) == system
    assert find(None, {}, elsewhere, tmp_path / "no/such.conf") is None
    assert str(location.SYSTEM_CONFIG) == "/etc/crowdd/crowdd.conf"


@pytest.mark.skipif(
    os.geteuid() != 0, reason="Needs root (sudo pytest …) for a namespace of its own with a file at /etc/crowdd."
)
def test_a_new_shell_in_any_folder_finds_the_configuration_of_the_system(tmp_path):
    """The same command of the documentation failed in a shell where CROWDD_CONFIG was not set."""
    (tmp_path / "work").mkdir()
    (tmp_path / "etc").mkdir()
    script = f"""
    mount -t tmpfs tmpfs {tmp_path}/etc && mkdir {tmp_path}/etc/upper {tmp_path}/etc/work
    mount -t overlay overlay -o lowerdir=/etc,upperdir={tmp_path}/etc/upper,workdir={tmp_path}/etc/work /etc
    mkdir /etc/crowdd /etc/crowdd/conf.d
    printf '[db]\\ndsn = host=/nowhere dbname=crowdd password=wonderful\\n' > /etc/crowdd/crowdd.conf
    printf '[data]\\ndir = /var/lib/crowdd\\n' > /etc/crowdd/conf.d/data.conf
    cd {tmp_path}/work && {BIN}/crowdctl config where && {BIN}/crowdctl user list
    ls -A; echo '[http' >> /etc/crowdd/crowdd.conf; {BIN}/twistd --pidfile= -n crowdd
    """
    environment = {name: text for name, text in os.environ.items() if not name.startswith("CROWDD_")}
    environment["CROWDD_DB_POOL_TIMEOUT"] = "1"
    shell = ["unshare", "--mount", "bash", "-c", script]
    done = subprocess.run(shell, env=environment, capture_output=True, text=True, check=False)
    files = "/etc/crowdd/crowdd.conf, /etc/crowdd/conf.d/data.conf"
    where = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert f"configuration {files}, CROWDD_DB_POOL_TIMEOUT" in where, done
    assert "database host=/nowhere dbname=crowdd password=***" in where and "data_dir /var/lib/crowdd" in where
    error, named, server, named_too = done.stderr.splitlines()
    assert error.startswith("Error: The database has not answered")
    assert named == (
        f"Configuration: {files}, CROWDD_DB_POOL_TIMEOUT. Database: host=/nowhere dbname=crowdd password=***."
    )
    assert "var" not in where, "nothing was made in the folder where the command was typed"
    assert server.startswith("crowdd: The configuration /etc/crowdd/crowdd.conf cannot be parsed")
    assert named_too.startswith("Configuration: /etc/crowdd/crowdd.conf")


def test_usual_configuration_file_is_found_in_a_checkout_only(crowdctl, checkout):
    assert crowdctl.json("admin", "link")["url"].startswith("https://usual.example/account/")
    (checkout / "setup.py").unlink()
    assert crowdctl.json("admin", "link")["url"].startswith("http://127.0.0.1")


def test_a_file_of_conf_d_overrides_those_before_it(tmp_path):
    (tmp_path / "conf.d").mkdir()
    for name, title in (("own.conf", "first"), ("conf.d/20.conf", "third"), ("conf.d/10.conf", "second")):
        (tmp_path / name).write_text(HERE_AND_THERE.format(title))
    (tmp_path / "conf.d/30.conf.bak").write_text(HERE_AND_THERE.format("not read"))
    own = tmp_path / "own.conf"
    assert load(own, {}).site.name == "third"
    assert origins(own, {})["site", "name"] == f"{tmp_path}/conf.d/20.conf: [site] name"
    assert load(own, {"CROWDD_SITE_NAME": "fourth"}).site.name == "fourth"


def test_every_refusal_names_configuration_and_database_without_the_password(crowdctl, dsn):
    ended = crowdctl("user", "show", "nobody", CROWDD_DB_DSN=f"{dsn} password=wonderful")
    error, named = ended.complaint.splitlines()
    assert error.startswith("Error: ") and "wonderful" not in ended.complaint
    assert named.startswith("Configuration: none (no /etc/crowdd/crowdd.conf, and this is no checkout)")
    assert "CROWDD_DATA_DIR, CROWDD_DB_DSN. Database: " in named and "password=***" in named


def test_no_command_makes_a_database(crowdctl, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    for words in (("user", "list"), ("db", "upgrade"), ("backup", "b.tar", "--passphrase-file", __file__)):
        sentence = crowdctl.refused(*words, CROWDD_DB_DSN="", CROWDD_DATA_DIR=str(home / "data"))
        assert "No database is configured. Set [db] dsn." in sentence, words
    assert [*home.iterdir()] == []


def test_serve_makes_a_database_only_where_one_is_wanted(tmp_path):
    """Typed in any folder, it made one there."""
    environment = {name: text for name, text in os.environ.items() if not name.startswith("CROWDD_")}
    command = [BIN / "crowdctl", "serve"]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "No database is configured." in done.stderr
    assert "CROWDD_DATA_DIR=/path/to/folder crowdctl serve" in done.stderr
    assert [*tmp_path.iterdir()] == []


def test_a_database_may_be_made_in_a_checkout_and_in_a_named_folder(checkout, tmp_path):
    assert location.may_embed(None, {}, checkout)
    assert location.may_embed(None, {"CROWDD_DATA_DIR": "/srv/crowdd"}, tmp_path.parent)
    own = tmp_path / "own.conf"
    own.write_text("[data]\ndir = /srv/crowdd\n")
    assert location.may_embed(own, {}, tmp_path.parent)
    assert not location.may_embed(None, {}, tmp_path.parent)


def test_a_restore_names_its_target_and_asks(crowdctl, tmp_path):
    archive = tmp_path / "b.tar"
    archive.write_bytes(b"no archive")
    word = {"CROWDD_BACKUP_PASSPHRASE": "correct horse"}
    sentence = crowdctl.refused("restore", archive, status=2, **word)
    assert crowdctl.environment["CROWDD_DB_DSN"] in sentence and f"{tmp_path}/data" in sentence
    assert "configuration: none" in sentence and "--yes" in sentence
    assert "is not an archive" in crowdctl.refused("restore", archive, "--yes", **word)


def test_a_restore_makes_a_database_only_if_it_is_told_to(crowdctl, tmp_path):
    archive = tmp_path / "b.tar"
    archive.write_bytes(b"no archive")
    none = {"CROWDD_BACKUP_PASSPHRASE": "correct horse", "CROWDD_DB_DSN": ""}
    sentence = crowdctl.refused("restore", archive, "--yes", **none)
    assert "No database is configured." in sentence and "--embedded" in sentence
    assert not (tmp_path / "data").exists()
    assert "not an archive" in crowdctl.refused("restore", archive, "--yes", "--embedded", **none)
    both = crowdctl.refused(
        "restore", archive, "--yes", "--embedded", status=2, CROWDD_BACKUP_PASSPHRASE="correct horse"
    )
    assert "[db] dsn names one" in both


EXAMPLE = """# Mine.
[http]
# Address to listen on.
#host = 127.0.0.1
port = 8000

[backups]
#dir =
"""


@pytest.mark.parametrize(
    ("section", "option", "value", "line", "before"),
    [
        ("http", "port", "9000", "port = 9000", "#host = 127.0.0.1"),
        ("http", "host", "::1", "host = ::1", "# Address to listen on."),
        ("http", "base_url", "https://x.example", "base_url = https://x.example", "port = 8000"),
        ("backups", "dir", "/var/backups", "dir = /var/backups", "[backups]"),
        ("site", "name", "Birds", "name = Birds", "[site]"),
    ],
)
def test_one_setting_is_changed_where_it_belongs(section, option, value, line, before):
    lines = config_files.with_value(EXAMPLE, section, option, value).splitlines()
    assert lines[lines.index(line) - 1] == before
    rest = [each for each in EXAMPLE.splitlines() if each not in (f"#{option} = 127.0.0.1", "port = 8000", "#dir =")]
    assert [each for each in rest if each not in lines] == []


def test_a_value_of_several_lines_goes_as_a_whole():
    text = "[http]\nallowed_hosts: a\n  b\n  c\nport = 1\n"
    assert config_files.with_value(text, "http", "allowed_hosts", "d") == "[http]\nallowed_hosts = d\nport = 1\n"


class TestSet:
    """``crowdctl config set``."""

    @pytest.fixture
    def own(self, crowdctl, tmp_path):
        """The whole example, as config example writes it."""
        path = tmp_path / "own.conf"
        path.write_text(crowdctl("config", "example").output)
        path.chmod(0o640)
        return path

    def test_a_section_that_is_there_is_used(self, crowdctl, own):
        """Who appended [backups], as the page said, got: section already exists."""
        done = crowdctl("-c", own, "config", "set", "backups", "dir", "/var/backups/crowdd")
        assert done.status == 0 and f"Set [backups] dir in {own}." in done.output and "restart" in done.output
        assert load(own, {}).backups.dir == "/var/backups/crowdd"
        assert own.stat().st_mode & 0o777 == 0o640
        assert "SIGHUP" in crowdctl("-c", own, "config", "set", "site", "name", "Birds").output

    def test_it_is_changed_in_the_file_that_counts(self, crowdctl, own):
        more = own.parent / "conf.d/10.conf"
        more.parent.mkdir()
        more.write_text("[site]\nname = Birds\n")
        assert crowdctl.json("-c", own, "config", "set", "site", "name", "Fish")["file"] == str(more)
        assert load(own, {}).site.name == "Fish"

    def test_what_cannot_be_is_not_written(self, crowdctl, own):
        before = own.read_text()
        assert "[http] port: must be" in crowdctl.refused("-c", own, "config", "set", "http", "port", "many")
        assert "unknown setting" in crowdctl.refused("-c", own, "config", "set", "http", "prot", "1")
        assert "unknown section" in crowdctl.refused("-c", own, "config", "set", "htpp", "port", "1")
        assert own.read_text() == before
        assert "There is no configuration" in crowdctl.refused("config", "set", "http", "port", "1")

    def test_a_password_comes_from_standard_input(self, crowdctl, own):
        done = crowdctl("-c", own, "config", "set", "mail", "password", "-", told="wonderful\n")
        assert load(own, {}).mail.password == "wonderful" and "wonderful" not in done.output

    def test_a_variable_that_overrides_it_is_named(self, crowdctl, own):
        variables = {"CROWDD_CONFIG": str(own), "CROWDD_HTTP_PORT": "8001"}
        done = crowdctl("config", "set", "http", "port", "9000", **variables)
        assert crowdctl.json("config", "where", **variables)["configuration"].startswith(str(own))
        assert "The variable CROWDD_HTTP_PORT of the environment overrides it." in done.output


def test_the_server_names_the_configuration_that_it_cannot_use(tmp_path):
    (tmp_path / "own.conf").write_text("[http]\nport = many\n")
    command = [BIN / "twistd", "--pidfile=", "-n", "crowdd", "-c", tmp_path / "own.conf"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"Configuration: {tmp_path}/own.conf" in done.stderr


def test_a_variable_can_name_a_file_with_the_value(tmp_path):
    """As secrets of containers come."""
    (tmp_path / "word").write_text("wonderful\nsecond line\n")
    variables = {
        "CROWDD_MAIL_PASSWORD_FILE": str(tmp_path / "word"),
        "CROWDD_BACKUPS_PASSPHRASE_FILE": "/run/secrets/word",
    }
    settings = load(None, variables)
    assert (settings.mail.password, settings.backups.passphrase_file) == ("wonderful", "/run/secrets/word")
    assert origins(None, variables)["mail", "password"] == "CROWDD_MAIL_PASSWORD_FILE"
    with pytest.raises(ConfigError, match="CROWDD_MAIL_PASSWORD_FILE: cannot read /nowhere: No such file"):
        load(None, {"CROWDD_MAIL_PASSWORD_FILE": "/nowhere"})
