"""Periodic jobs, one file each: every module declares ``JOB``."""
