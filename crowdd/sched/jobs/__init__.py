"""Work by the clock, one file each: a module here has ``JOB``."""
