"""Folders of work: they go with their process, and one of a living process stays."""

from __future__ import annotations

import subprocess
import sys

from crowdd.kernel.files import owned_folder

_HOLDER = (
    "import sys; from pathlib import Path; from crowdd.kernel.files import owned_folder\n"
    "with owned_folder(Path(sys.argv[1]), '7-') as own: (own / 'x').write_text('x'); print(own, flush=True); sys.stdin.read()"
)


def test_what_a_killed_process_left_goes_and_what_a_living_one_has_stays(tmp_path):
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None and holder.stdin is not None
    other = holder.stdout.readline().strip()
    with owned_folder(tmp_path, "8-") as own:
        assert sorted(map(str, tmp_path.iterdir())) == sorted([other, str(own)])
        with owned_folder(tmp_path, "9-") as third:
            assert own.is_dir() and third.is_dir()
        assert not third.exists()
    holder.kill()
    holder.wait()
    assert [str(path) for path in tmp_path.iterdir()] == [other]
    with owned_folder(tmp_path, "8-") as own:
        assert list(tmp_path.iterdir()) == [own]
    assert list(tmp_path.iterdir()) == []
