"""Find the jobs and the handlers that features and the scheduler declare."""

from __future__ import annotations

from importlib import import_module
from typing import Final, TypeVar

from crowdd import PACKAGE
from crowdd.features import FEATURES

T = TypeVar("T")
OF_SCHEDULER: Final = ("assignment", "job_runner", "queue_worker", "statistics", "upkeep", "webhook_deliveries")


def declared(kind: type[T]) -> list[T]:
    """Every value of this kind in the ``feature.py`` of a feature, or in a module of the scheduler."""
    features = [name for name in FEATURES if (PACKAGE / "features" / name / "feature.py").is_file()]
    modules = [f"crowdd.features.{name}.feature" for name in features] + [
        f"crowdd.sched.{name}" for name in OF_SCHEDULER
    ]
    return [value for name in modules for value in vars(import_module(name)).values() if isinstance(value, kind)]
