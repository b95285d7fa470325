"""Programs of bench are found by their names, with ``python -m bench`` and with ``make``."""

from __future__ import annotations

import shlex
from importlib.util import find_spec

import pytest

from bench.__main__ import PROGRAMS, main


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_there(name):
    modules = [shlex.split(module)[0] for module in PROGRAMS[name].modules]
    assert modules and all(find_spec(module) is not None for module in modules)


def test_they_are_listed(capsys):
    assert main([]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == sorted(PROGRAMS)


def test_an_unknown_name_is_refused(capsys):
    assert main(["nothing"]) == 1
    assert "no program nothing" in capsys.readouterr().err
