"""Long work, one file each: a module here has ``WORK``, whose name is what ``domain.queue.add`` calls it by."""
