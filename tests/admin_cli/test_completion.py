"""Completion in the shells, and the manual pages."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from crowdd.admin_cli.main import COMMANDS


@pytest.mark.parametrize(
    ("shell", "mark"), [("bash", "complete -o nosort"), ("zsh", "#compdef crowdctl"), ("fish", "complete --no-files")]
)
def test_each_shell_has_its_script(crowdctl, shell, mark):
    ended = crowdctl("completion", shell)
    assert ended.status == 0 and mark in ended.output
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=ended.output, text=True, check=True)


def completed(crowdctl, words):
    asked = {"_CROWDCTL_COMPLETE": "fish_complete", "COMP_WORDS": words, "COMP_CWORD": words.split(" ")[-1]}
    return [re.split(r"[,\t]", line)[1] for line in crowdctl(**asked).output.splitlines()]


def test_words_are_completed(crowdctl):
    assert completed(crowdctl, "crowdctl ") == list(COMMANDS)
    assert completed(crowdctl, "crowdctl user bl") == ["block"]
    assert "--short-name" in completed(crowdctl, "crowdctl category add --")
    assert completed(crowdctl, "crowdctl mail list --state h") == ["held"]


def test_every_command_has_a_manual_page(crowdctl, tmp_path):
    pages = crowdctl.json("man", tmp_path / "man1")["pages"]
    assert {"crowdctl.1", "crowdctl-serve.1", "crowdctl-user.1", "crowdctl-user-reset-api-key.1"} <= {*pages}
    root = (tmp_path / "man1" / "crowdctl.1").read_text()
    assert all(f"\\fB{name}\\fP" in root for name in COMMANDS) and "Exit status" in root
    assert r"\fB\-\-draft\fP" in (tmp_path / "man1" / "crowdctl-announcement-add.1").read_text()
