"""CPU of single parts of the server that strangers can make work.

    python -m bench.budgets.parts

Texts in Markdown that would take long to lay out, long filters of lists, passwords that stand for many others, and the
start of a command. Gate: the fastest of three turns takes at maximum as many milliseconds as the table says.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

from support.checks.dear_texts import DEAR

from bench.support.figures import table
from crowdd.core.text import markdown, markdown_limits
from crowdd.features.accounts.passwords import assess
from crowdd.http import queries
from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.requester import Requester
from crowdd.kinds.task import TASK

TURNS = 3
MAX_TEXT = 1000 * (2 * markdown_limits.MAX_SECONDS + 0.1)
MAX_FILTER, MAX_PASSWORD, MAX_COMMAND = 500.0, 400.0, 1000.0
FILTERS = ("a" * 16_000, ":a" * 8_000, "|" + "a" * 15_000 + "|::x", "::|" + "a" * 15_000)
SYMBOLS = ("4@8({[<369!|1705$+%2", "4(c", "0123456789", "ab1")


def own() -> float:
    """CPU milliseconds of this process and of its children that have ended."""
    children = getrusage(RUSAGE_CHILDREN)
    return 1000 * (time.process_time() + children.ru_utime + children.ru_stime)


def milliseconds(act: Callable[[], object]) -> float:
    """CPU of the fastest turn; a refusal is an end like any other."""
    spent = []
    for _ in range(TURNS):
        begun = own()
        with contextlib.suppress(InvalidValueError):
            act()
        spent.append(own() - begun)
    return min(spent)


def parts() -> Iterator[tuple[str, float, Callable[[], object]]]:
    """Each with its name and the milliseconds that it may take."""
    for name, text in DEAR.items():
        yield f"text: {name}", MAX_TEXT, lambda text=text: markdown.render(text, 3)
    for number, text in enumerate(FILTERS, start=1):
        yield f"filter {number}", MAX_FILTER, lambda text=text: queries.parse_query(TASK, {"info": text}, Requester())
    chance = random.Random(7)
    assess("warm", [])
    for length in (24, 72, 1000):
        for symbols in SYMBOLS:
            password = "".join(chance.choice(symbols) for _ in range(length))
            yield (
                f"password: {length} of {symbols}",
                MAX_PASSWORD,
                lambda password=password: assess(password, ["Galaxy"]),
            )
    command = [Path(sys.executable).parent / "crowdctl", "--help"]
    yield "crowdctl --help", MAX_COMMAND, lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def main() -> int:
    """Prints what each part takes; 1 when one takes too long."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    measured = [(name, maximum, milliseconds(act)) for name, maximum, act in parts()]
    lines: list[tuple[str, object]] = [(name, f"{spent:.0f} of {maximum:.0f} ms") for name, maximum, spent in measured]
    slow = [f"{name}: {spent:.0f} ms instead of {maximum:.0f}" for name, maximum, spent in measured if spent > maximum]
    print(table("CPU of parts", lines, slow))
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
