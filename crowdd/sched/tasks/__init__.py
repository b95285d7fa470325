"""Background tasks, one file each: a module has ``HANDLER``, whose name is what ``queue.add`` calls it by."""
