"""The site for demonstrations."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from support.servers.live import free_port

from bench.demo.__main__ import main


@pytest.mark.proof
def test_all_projects_are_finished_and_nothing_differs_from_the_rows(tmp_path):
    options = ["--once", "--people", "280", "--folder", str(tmp_path / "demo"), "--port", str(free_port())]
    made = CliRunner().invoke(main, options)
    assert made.exit_code == 0, made.output
    assert made.output.count(" answers\n") == 11


def test_a_folder_with_something_else_is_left_alone(tmp_path):
    (tmp_path / "letter").write_text("Dear Clara")
    made = CliRunner().invoke(main, ["--folder", str(tmp_path)])
    assert made.exit_code == 1 and "Name another folder." in made.output
    assert (tmp_path / "letter").read_text() == "Dear Clara"
