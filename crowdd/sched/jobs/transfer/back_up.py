"""Back up everything into the folder of backups, on servers that have one."""

from __future__ import annotations

from crowdd.sched.job import DAY, HOUR, Job

JOB = Job(
    "back_up",
    DAY,
    lambda services: services.backups.make(),
    lambda settings: settings.backups.every_hours * HOUR if settings.backups.dir else None,
)
