"""Lengths of time as texts."""

from __future__ import annotations

from datetime import timedelta


def iso_duration(value: timedelta) -> str:
    """As ISO 8601 has durations, in hours, minutes and seconds: PT36H."""
    sign, seconds = ("-", -value.total_seconds()) if value < timedelta() else ("", value.total_seconds())
    hours, rest = divmod(seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    parts = [f"{number:g}{unit}" for number, unit in ((hours, "H"), (minutes, "M"), (round(seconds, 3), "S")) if number]
    return f"{sign}PT{''.join(parts) or '0S'}"
