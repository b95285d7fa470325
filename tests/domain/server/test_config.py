"""Settings: from a file and the environment, each refused by name when it cannot be."""

from ipaddress import ip_network
from pathlib import Path

import pytest

from crowdd.kernel.config import Settings, load, options
from crowdd.kernel.config.settings import FORMER
from crowdd.kernel.errors import ConfigError

WRONG = {
    ("http", "port"): ["x", "-1", "65536", "", "80.5"],
    ("http", "trusted_proxies"): ["10.0.0.0/99", "proxy.example", "10.0.0.1 x"],
    ("http", "max_connections"): ["0", "x"],
    ("http", "max_connections_per_network"): ["-1", "x"],
    ("http", "max_requests_per_network"): ["-1", "x"],
    ("http", "hsts_seconds"): ["-1", "x"],
    ("http", "max_page_cache_bytes"): ["-1", "ten"],
    ("http", "shared_cache_seconds"): ["-1", "ten"],
    ("exports", "deletion_days"): ["0", "-1", "ten"],
    ("http", "max_body_bytes"): ["0", "-1", "ten"],
    ("http", "max_anonymous_body_bytes"): ["0", "-1", "ten"],
    ("http", "max_import_bytes"): ["0", "-1", "ten"],
    ("http", "shutdown_timeout"): ["-1", "soon"],
    ("http", "drain_delay"): ["-1", "soon"],
    ("history", "days"): ["-1", "x"],
    ("http", "cross_site_cookies"): ["perhaps", "", "2"],
    ("daemon", "workers"): ["0", "x"],
    ("log", "format"): ["xml", ""],
    ("log", "level"): ["loud", ""],
    ("log", "requests"): ["maybe"],
    ("log", "max_bytes"): ["-1", "x"],
    ("log", "backup_count"): ["0", "x"],
    ("log", "security_days"): ["0", "x"],
    ("data", "min_free_bytes"): ["-1", "x"],
    ("data", "backup_days"): ["-1", "x"],
    ("backups", "every_hours"): ["0", "x"],
    ("backups", "keep_days"): ["0", "x"],
    ("backups", "keep_weeks"): ["-1", "x"],
    ("db", "pool_size"): ["0", "x"],
    ("db", "slow_read_timeout"): ["0", "x"],
    ("db", "replica_timeout"): ["0", "x"],
    ("db", "max_queue"): ["0", "x"],
    ("db", "pool_timeout"): ["0", "x"],
    ("db", "statement_timeout"): ["0", "x"],
    ("queue", "workers"): ["-1", "x"],
    ("ratelimit", "limit"): ["-1", "x"],
    ("ratelimit", "key_limit"): ["0", "x"],
    ("ratelimit", "window"): ["0", "x"],
    ("ratelimit", "shared_address_factor"): ["0", "x"],
    ("ratelimit", "shared"): ["maybe"],
    ("exports", "max_downloads"): ["0", "x"],
    ("exports", "max_downloads_per_network"): ["-1", "x"],
    ("quota", "max_projects"): ["-1", "x"],
    ("quota", "max_tasks"): ["-1", "x"],
    ("quota", "max_bytes"): ["-1", "1 GB"],
    ("media", "store"): ["", "ftp"],
    ("media", "s3_endpoint"): ["minio", "ftp://minio"],
    ("media", "s3_bucket"): ["Two Words"],
    ("media", "web_pixels"): ["0", "x"],
    ("media", "tile_pixels"): ["-1", "x"],
    ("media", "thumbnail_pixels"): ["0", "x"],
    ("media", "max_pixels"): ["0", "x"],
    ("media", "max_pages"): ["0", "x"],
    ("uploads", "max_file_bytes"): ["0", "1 GB"],
    ("uploads", "max_batch_files"): ["0", "x"],
    ("uploads", "max_open_files"): ["0", "x"],
    ("uploads", "max_open_bytes"): ["0", "x"],
    ("uploads", "max_site_open_bytes"): ["0", "x"],
    ("uploads", "max_site_bytes"): ["-1", "x"],
    ("uploads", "expire_hours"): ["0", "x"],
    ("retention", "address_days"): ["-1", "x"],
    ("retention", "event_days"): ["-1", "x"],
    ("retention", "audit_days"): ["-1", "x"],
    ("live", "max_streams"): ["-1", "x"],
    ("live", "max_streams_per_address"): ["0", "x"],
    ("live", "heartbeat_seconds"): ["0", "x"],
    ("live", "stalled_timeout"): ["0", "x"],
    ("volunteers", "anonymous"): ["", "cookies", "Cookie"],
    ("volunteers", "cookies_per_hour"): ["0", "x"],
    ("volunteers", "cookies_per_day"): ["0", "x"],
    ("volunteers", "counted_per_network"): ["-1", "x"],
    ("accounts", "session_days"): ["0", "x"],
    ("accounts", "session_max_days"): ["0", "x"],
    ("accounts", "proof_minutes"): ["0", "x"],
    ("accounts", "admin_proof_hours"): ["0", "x"],
    ("accounts", "admin_idle_minutes"): ["0", "x"],
    ("accounts", "require_second_factor"): ["", "everybody", "Admins"],
    ("accounts", "key_in_query"): ["maybe", ""],
    ("accounts", "min_password_length"): ["0", "x"],
    ("accounts", "max_login_failures"): ["0", "x"],
    ("accounts", "max_login_failures_per_hour"): ["0", "x"],
    ("accounts", "max_posts"): ["-1", "x"],
    ("accounts", "signups_per_hour"): ["-1", "x"],
    ("accounts", "confirm_email"): ["maybe", "", "Auto"],
    ("accounts", "link_hours"): ["0", "x"],
    ("external", "token_hours"): ["0", "x"],
    ("volunteers", "keep_circumstances"): ["x", "2"],
    ("volunteers", "open_external_uid"): ["x", "2"],
    ("accounts", "keys_manage_projects"): ["x", "2"],
    ("outgoing", "allowed_hosts"): ["hooks.internal:0", "hooks.internal:http", "a:80 :80", "a:70000", "a:", "[::1:80"],
    ("webhooks", "first_delay"): ["0", "-1", "inf", "nan", "soon"],
    ("webhooks", "timeout"): ["0", "x"],
    ("webhooks", "log_days"): ["0", "x"],
    ("webhooks", "log_rows"): ["0", "x"],
    ("mail", "port"): ["-1", "x"],
    ("mail", "tls"): ["on", ""],
    ("mail", "keep_days"): ["0", "x"],
    ("maps", "file"): ["world.tiles", "../world.pmtiles", "/srv/world.pmtiles"],
    ("maps", "tiles"): ["http://tiles.example/{z}/{x}/{y}.png", "https://tiles.example/{z}/{x}.png", "tiles"],
    ("site", "debug"): ["maybe"],
    ("site", "security_contact"): ["http://crowd.example", "nobody", "a b@c.example", "https://x y"],
}
# Any text will do for these.
TEXTS = {
    ("http", "host"), ("http", "tls_certificate"), ("http", "tls_key"), ("log", "file"), ("metrics", "token"),
    ("daemon", "node"), ("http", "base_url"), ("http", "allowed_origins"), ("db", "dsn"), ("db", "migrate_dsn"), ("db", "replica_dsn"), ("data", "dir"),
    ("backups", "dir"), ("backups", "passphrase_file"), ("backups", "dsn"),
    ("data", "postgres_user"), ("mail", "host"), ("mail", "user"), ("mail", "password"), ("mail", "sender"),
    ("site", "name"), ("site", "texts"), ("maps", "attribution"), ("commenting", "public_key"), ("commenting", "secret_key"),
    ("http", "spa_base_url"), ("http", "allowed_hosts"),
    ("media", "s3_region"), ("media", "s3_access_key"), ("media", "s3_secret_key"), ("media", "s3_secret_key_file"),
    *(("signin", f"{provider}_client_{word}") for provider in ("google", "github", "orcid") for word in ("id", "secret")),
    *(("signin", word) for word in ("google_issuer", "github_url", "github_api_url", "orcid_issuer")),
}  # fmt: skip


def variable(section, option):
    return f"CROWDD_{section}_{option}".upper()


def write(folder: Path, text: str) -> Path:
    path = folder / "crowdd.conf"
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize(("place", "now"), list(FORMER.items()))
def test_a_setting_under_its_former_name_is_refused_with_its_new_one(tmp_path, place, now):
    section, option = place
    assert (section, now) in {(of, name) for of, name, _, _ in options()}
    with pytest.raises(ConfigError) as error:
        load(None, {variable(section, option): "1"})
    assert str(error.value) == f"{variable(section, option)}: this setting was renamed to {now}."
    path = write(tmp_path, f"[{section}]\n{option} = 1\n")
    with pytest.raises(ConfigError) as error:
        load(path, {})
    assert str(error.value) == f"{path}: [{section}] {option}: this setting was renamed to {now}."


def test_every_option_is_tried_here():
    assert WRONG.keys() | TEXTS == {(section, option) for section, option, _, _ in options()}
    assert not WRONG.keys() & TEXTS


@pytest.mark.parametrize(("place", "text"), [(place, text) for place, texts in WRONG.items() for text in texts])
def test_a_wrong_value_is_refused_by_the_name_of_its_setting(tmp_path, place, text):
    section, option = place
    with pytest.raises(ConfigError) as error:
        load(None, {variable(section, option): text})
    assert str(error.value).startswith(f"{variable(section, option)}: must be ")
    path = write(tmp_path, f"[{section}]\n{option} = {text}\n")
    with pytest.raises(ConfigError) as error:
        load(path, {})
    assert str(error.value).startswith(f"{path}: [{section}] {option}: must be ")


def test_without_anything_the_defaults_hold():
    assert load(None, {}) == Settings()
    assert load(None, {"PATH": "/bin", "CROWDD": "x", "CROWDD_": "y", "XCROWDD_HTTP_PORT": "1"}) == Settings()
    assert Settings().base_url == "http://127.0.0.1:8000"


def test_the_environment_wins_over_the_file(tmp_path):
    path = write(tmp_path, "# a remark\n[http]\nport = 9000\nhost = ::1\n\n[site]\nname = Lakes % and # rivers\n")
    assert (load(path, {}).http.port, load(path, {}).site.name) == (9000, "Lakes % and # rivers")
    both = load(path, {"CROWDD_HTTP_PORT": "9001"})
    assert (both.http.port, both.http.host) == (9001, "::1")


def test_values_are_read_into_their_types():
    settings = load(
        None,
        {
            "CROWDD_HTTP_TRUSTED_PROXIES": "10.0.0.0/8, ::1 192.0.2.7",
            "CROWDD_HTTP_ALLOWED_ORIGINS": "https://a.example  https://b.example",
            "CROWDD_HTTP_CROSS_SITE_COOKIES": "Yes",
            "CROWDD_HTTP_BASE_URL": "https://crowd.example/",
            "CROWDD_DATA_DIR": "/srv/crowdd",
        },
    )
    networks = tuple(map(ip_network, ("10.0.0.0/8", "::1/128", "192.0.2.7/32")))
    assert settings.http.trusted_proxies == networks and settings.http.cross_site_cookies is True
    assert settings.http.allowed_origins == ("https://a.example", "https://b.example")
    assert settings.base_url == "https://crowd.example" and settings.data.dir == Path("/srv/crowdd")


def test_an_unknown_setting_is_refused_by_name(tmp_path):
    for text, words in (
        ("[http]\nprot = 1\n", "[http] prot: unknown setting. Settings of [http]: host, port"),
        ("[htpp]\nport = 1\n", "[htpp] port: unknown section [htpp]. Known sections: http, daemon, log, metrics, db"),
    ):
        with pytest.raises(ConfigError) as error:
            load(write(tmp_path, text), {})
        assert words in str(error.value)
    with pytest.raises(ConfigError, match=r"CROWDD_HTTP_PROT: unknown setting"):
        load(None, {"CROWDD_HTTP_PROT": "1"})


def test_the_setting_of_shards_is_refused_with_what_to_do(tmp_path):
    path = write(tmp_path, "[db]\nshards = one = host=/run/one dbname=crowdd\n")
    for place, source in ((f"{path}: [db] shards", (path, {})), ("CROWDD_DB_SHARDS", (None, {"CROWDD_DB_SHARDS": ""}))):
        with pytest.raises(ConfigError) as error:
            load(*source)
        assert str(error.value) == (
            f"{place}: this setting was withdrawn. All projects live on the database of [db] dsn. Move those on other "
            "databases there with the crowdd that you used before (crowdctl shards move), then remove the setting."
        )


@pytest.mark.parametrize(
    "text", ["port = 1\n", "[http\n", "[http]\nport\n", "[http]\nport = 1\nport = 2\n", "[http]\n[http]\n"]
)
def test_a_broken_file_is_one_sentence(tmp_path, text):
    with pytest.raises(ConfigError) as error:
        load(write(tmp_path, text), {})
    assert "cannot be parsed" in str(error.value) and "\n" not in str(error.value)


def test_a_file_that_is_not_there_or_no_text_is_one_sentence(tmp_path):
    with pytest.raises(ConfigError, match="Cannot read the configuration"):
        load(tmp_path / "nothing", {})
    (tmp_path / "bytes").write_bytes(b"\xff\xfe[http]")
    with pytest.raises(ConfigError, match="cannot be parsed"):
        load(tmp_path / "bytes", {})


def test_settings_are_frozen():
    with pytest.raises(AttributeError):
        Settings().http.port = 1
