"""Majority: every answer has the same weight. The probability of a class is its share of the answers."""

from __future__ import annotations

from collections.abc import Mapping

from crowdd.domain.analyses.methods.estimate import Answers, Estimate


def estimate(answers: Answers, parameters: Mapping[str, float]) -> Estimate:
    """The shares. Volunteers have no skill here."""
    return Estimate(answers.shares())
