"""Handlers of background tasks, one file each: every module declares ``HANDLER``, named as in ``Queue.add``."""
