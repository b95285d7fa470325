"""What it takes to make the HTML of each page.

    python -m bench.budgets.pages

Every template is rendered with the cases of the tests, five times each. Gate: the fastest turn of each takes at most
10 ms of CPU.
"""

from __future__ import annotations

import argparse
import sys
import time
from datetime import UTC, datetime

from support.checks.page_contexts import Case, cases

from bench.support.figures import table
from crowdd.http.html.rendering import Templates
from crowdd.http.html.static_files import StaticFiles
from crowdd.http.web import FeatureWeb, add_functions
from crowdd.kernel.languages import Languages
from crowdd.sched.registry import declared_classes

MAX_MS = 10
TURNS = 5
FOR_DEVELOPERS = "about/design.html"  # all parts of pages on one


def milliseconds(templates: Templates, case: Case) -> float:
    """CPU of the fastest turn."""
    spent = []
    for _ in range(TURNS):
        begun = time.thread_time()
        templates.render(case.template, case.context)
        spent.append(1000 * (time.thread_time() - begun))
    return min(spent)


def measured() -> dict[str, float]:
    """Milliseconds by template and case."""
    templates = Templates(
        StaticFiles.read(),
        now=lambda: datetime(2025, 11, 20, tzinfo=UTC),
        base_url="https://x.example",
        languages=Languages.read(),
    )
    add_functions(templates, declared_classes(FeatureWeb, "web"))
    plain = [case for case in cases() if not case.kind.endswith(("hostile", "long words"))]
    return {f"{case.template} ({case.kind})": milliseconds(templates, case) for case in plain}


def main() -> int:
    """Prints the slowest pages; 1 when one takes too long."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    page_times = sorted(measured().items(), key=lambda each: -each[1])
    lines: list[tuple[str, object]] = [("pages", len(page_times))]
    lines += [(name, f"{ms:.1f} ms") for name, ms in page_times[:10]]
    slow = [
        f"{name}: {ms:.1f} ms instead of {MAX_MS}"
        for name, ms in page_times
        if ms > MAX_MS and not name.startswith(FOR_DEVELOPERS)
    ]
    print(table("HTML of pages", lines, slow))
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
