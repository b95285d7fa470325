"""What the server writes down, and what it never does."""

from __future__ import annotations

import attrs
import orjson
import pytest
import pytest_twisted
from twisted.internet.defer import Deferred, ensureDeferred
from twisted.logger import Logger, LogLevel, LogPublisher

from crowdd.kernel.config import Settings
from crowdd.kernel.config.accounts import CommentingSettings, SignInSettings
from crowdd.kernel.config.data import DataSettings, DbSettings
from crowdd.kernel.config.outbound import MailSettings
from crowdd.kernel.config.server import LogSettings, MetricsSettings
from crowdd.kernel.errors import ConfigError
from crowdd.kernel.logs import EventWriter, is_journal, request_id


class Lines(list):
    """An output that keeps what is written."""

    def write(self, text):
        self.append(text)

    def flush(self):
        """Nothing waits."""


def settings(folder=None, **log):
    data = DataSettings(dir=folder) if folder else DataSettings()
    return Settings(log=LogSettings(**log), data=data)


def journal(output, worker="", **more):
    made = EventWriter(attrs.evolve(settings(), **more), output, worker=worker)
    return made, Logger(namespace="birds", observer=LogPublisher(made))


def test_text_has_one_indented_event_after_the_other():
    lines = Lines()
    _, log = journal(lines, worker="2")
    log.info("two\nlines of {bird}", bird="eagles")
    assert lines[0].endswith(" [birds#info] two (worker 2)\n\tlines of eagles\n")
    try:
        raise KeyError("nest")
    except KeyError:
        log.failure("It failed")
    first, *more = lines[1].splitlines()
    assert first.endswith("[birds#critical] It failed (worker 2)") and "KeyError: 'nest'" in more[-1]
    assert all(line.startswith("\t") for line in more)


def test_json_is_one_object_per_line():
    lines = Lines()
    _, log = journal(lines, worker="2", log=LogSettings(format="json"))
    log.warn("two\nlines of {bird}", bird="eagles", status=404)
    try:
        raise KeyError("nest")
    except KeyError:
        log.failure("It failed")
    assert all(line.count("\n") == 1 for line in lines)
    first, second = map(orjson.loads, lines)
    assert (first["message"], first["level"], first["logger"]) == ("two\nlines of eagles", "warn", "birds")
    assert (first["worker"], first["status"]) == ("2", 404) and first["time"].endswith("Z")
    assert "KeyError: 'nest'" in second["traceback"]


@pytest.mark.parametrize("form", ["text", "json"])
@pytest_twisted.ensureDeferred
async def test_a_line_names_the_request_that_it_belongs_to(form):
    lines, gates = Lines(), [Deferred(), Deferred()]
    _, log = journal(lines, log=LogSettings(format=form))

    async def request(number):
        request_id.set(f"id{number}")
        await gates[number]
        await deeper(number)

    async def deeper(number):
        log.info("asked by {number}", number=number)

    asked = [ensureDeferred(request(number)) for number in (0, 1)]
    for number in (1, 0):
        gates[number].callback(None)
        await asked[number]
    log.info("asked by nobody")
    assert ["id1" in lines[0], "id0" in lines[1], "id" in lines[2]] == [True, True, False]


@pytest.mark.parametrize("form", ["text", "json"])
def test_configured_secrets_are_never_written(form):
    lines = Lines()
    _, log = journal(
        lines,
        log=LogSettings(format=form),
        db=DbSettings(dsn="postgresql://crowdd:hidden-one@db/crowdd"),
        mail=MailSettings(password="hidden-two"),
        metrics=MetricsSettings(token="hidden-three"),
        signin=SignInSettings(google_client_secret="hidden-four"),
        commenting=CommentingSettings(secret_key="hidden-five"),
    )
    for number in ("one", "two", "three", "four", "five"):
        log.error("password={what}", what=f"hidden-{number}")
    try:
        raise ValueError("postgresql://crowdd:hidden-one@db/crowdd")
    except ValueError:
        log.failure("hidden-two")
    assert len(lines) == 6 and "hidden" not in "".join(lines)


@pytest.mark.parametrize(
    ("dsn", "found"),
    [
        ("postgresql://a:b-c@host/d", ["b-c"]), ("host=x password=b-c user=a", ["b-c"]), ("host=x user=a", []),
        ("host=x password='b-c' user=a", ["b-c"]),
    ],
)  # fmt: skip
def test_the_password_of_a_database_is_known_for_one(dsn, found):
    assert Settings(db=DbSettings(dsn=dsn)).secrets() == found


def test_what_is_less_important_is_left_out():
    lines = Lines()
    _, log = journal(lines, log=LogSettings(level="warn"))
    for level in ("debug", "info", "warn", "error", "critical"):
        getattr(log, level)(level)
    assert [line.split()[-1] for line in lines] == ["warn", "error", "critical"]


def test_each_connection_to_another_server_is_no_news():
    lines = Lines()
    made, _ = journal(lines)
    log = Logger(namespace="twisted.web.client._HTTP11ClientFactory", observer=LogPublisher(made))
    log.info("Starting factory")
    log.warn("That is news")
    assert len(lines) == 1 and "That is news" in lines[0]


class TestFile:
    def test_is_in_the_data_folder_unless_named(self, tmp_path):
        made = EventWriter(settings(tmp_path))
        made.write("a line\n")
        assert (tmp_path / "crowdd.log").read_text() == "a line\n"
        assert (tmp_path / "crowdd.log").stat().st_mode & 0o007 == 0, "others have no business with it"

    def test_grows_no_further_than_told(self, tmp_path):
        made = EventWriter(settings(file=str(tmp_path / "a.log"), max_bytes=100, backup_count=2))
        for number in range(100):
            made.write(f"{number:019}\n")
        names = sorted(path.name for path in tmp_path.iterdir())
        assert names == ["a.log", "a.log.1", "a.log.2"]
        assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 3 * 120
        assert "0099" in (tmp_path / "a.log").read_text()

    @pytest.mark.parametrize("how", ["removed", "moved", "folder removed"])
    def test_is_made_again_when_it_has_gone(self, tmp_path, monkeypatch, how):
        path = tmp_path / "logs/a.log"
        made = EventWriter(settings(file=str(path)))
        made.write("before\n")
        if how == "moved":
            path.rename(tmp_path / "old")
        else:
            path.unlink()
        if how == "folder removed":
            path.parent.rmdir()
        made._output._looked -= 2
        made.write("after\n")
        assert path.read_text() == "after\n"
        assert how != "moved" or (tmp_path / "old").read_text() == "before\n"

    def test_that_cannot_be_opened_leaves_the_old_one(self, tmp_path):
        made = EventWriter(settings(file=str(tmp_path / "a.log")))
        (tmp_path / "no folder").write_text("")
        with pytest.raises(ConfigError, match=r"Cannot write the log .*\[log\] file"):
            made.use(settings(file=str(tmp_path / "no folder/b.log")))
        made.write("still here\n")
        assert (tmp_path / "a.log").read_text() == "still here\n"

    def test_can_be_changed_for_another(self, tmp_path):
        made = EventWriter(settings(file=str(tmp_path / "a.log")))
        made.use(settings(file=str(tmp_path / "b.log"), format="json"))
        made({"log_level": LogLevel.info, "log_time": 0.0, "log_format": "hello"})
        assert orjson.loads((tmp_path / "b.log").read_text())["time"] == "1970-01-01T00:00:00.000000Z"


def test_what_twisted_says_of_factories_ports_and_plugins_is_for_debugging():
    """Newcomers took it for trouble: Starting factory <...Site object at 0x7f...>, Site starting on 8000."""
    lines = Lines()
    made, log = journal(lines)
    publisher = LogPublisher(made)
    log.info("Starting factory {factory!r}", factory=object())
    log.info("Stopping factory {factory!r}", factory=object())
    publisher({"log_level": LogLevel.info, "log_namespace": "log_legacy", "log_format": "Site starting on 8000"})
    publisher({"log_level": LogLevel.info, "log_namespace": "twisted.scripts._twistd_unix.U", "log_format": "reactor"})
    log.info("birds answer")
    assert [line.rpartition("] ")[2] for line in lines] == ["birds answer\n"]
    made.use(attrs.evolve(settings(), log=LogSettings(level="debug")))
    log.info("Starting factory {factory!r}", factory=1)
    log.error("Starting factory {factory!r}", factory=2)
    assert len(lines) == 3


def test_lines_of_the_journal_have_no_time_of_their_own(tmp_path):
    """Under systemd each line had two."""
    lines = Lines()
    log = Logger(namespace="birds", observer=LogPublisher(EventWriter(settings(), lines, timed=False)))
    log.info("seen")
    assert lines == ["[birds#info] seen\n"]
    in_file = EventWriter(settings(file=str(tmp_path / "x.log")), lines, timed=False)
    Logger(namespace="birds", observer=LogPublisher(in_file)).info("seen")
    assert not (tmp_path / "x.log").read_text().startswith("[birds")
    with (tmp_path / "journal").open("w") as file:
        status = (tmp_path / "journal").stat()
        assert is_journal({"JOURNAL_STREAM": f"{status.st_dev}:{status.st_ino}"}, file.fileno())
        assert not is_journal({"JOURNAL_STREAM": "1:2"}, file.fileno()) and not is_journal({}, file.fileno())
