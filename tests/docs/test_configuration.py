"""The file with every setting can be read, and the names of the environment work."""

from __future__ import annotations

import re
from pathlib import Path

import attrs

from bench.release.documents import written
from crowdd.kernel import config

ROOT = Path(__file__).parents[2]
FILE = ROOT / "etc" / "crowdd.conf"


def test_the_file_lists_every_setting_with_its_default(tmp_path):
    listed = re.sub(r"^#(?=\w+ =)", "", FILE.read_text("utf-8"), flags=re.MULTILINE)
    uncommented = tmp_path / "crowdd.conf"
    uncommented.write_text(listed, "utf-8")
    assert config.load(uncommented, {}) == config.load(FILE, {}) == config.Settings()
    entries = re.findall(r"^(?:\[(\w+)\]|(\w+) =)", listed, re.MULTILINE)
    wanted = [("", option) for _, option, _, _ in config.options()]
    assert sorted(one for one in entries if one[1]) == sorted(wanted)
    assert [section for section, _ in entries if section] == list(config.SECTIONS)


def test_the_names_of_the_page_are_those_that_work():
    for section, option, _, default in config.options():
        settings = config.load(None, {f"CROWDD_{section}_{option}".upper(): written(default)})
        assert getattr(getattr(settings, section), option) == default


def test_operations_lists_what_only_a_new_start_changes():
    page = (ROOT / "docs" / "operations.md").read_text("utf-8")
    table = page.partition("### Settings that SIGHUP does not change")[2].partition("\n#")[0]
    listed = set(re.findall(r"`(\[\w+\] \w+)`", table))
    fixed = {
        f"[{section}] {a.name}"
        for section, cls in config.SECTIONS.items()
        for a in attrs.fields(cls)
        if a.metadata["fixed"]
    }
    assert listed == fixed
