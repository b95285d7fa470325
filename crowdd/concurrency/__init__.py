"""Mechanisms for work at the same time, one file each.

All layers use them instead of timers and Deferreds of their own:

* ``shield``: let work end though its caller was cancelled.
* ``deadline``: do something when a block takes too long.
* ``poll_loop``: look again and again, never twice at once.
* ``throttling``: work that is asked for often and done seldom.
* ``single_flight``: callers who want the same thing share one call.
* ``cached_value``, ``expiring_cache``: one value, or many by key, that are good for some seconds.
* ``back_off``, ``restarts``: pauses that grow after failures; whether a process is started again.
* ``batching``: calls at the same time as one statement.
* ``worker_thread``: threads for what would hold up the reactor.
* ``long_process``: a process that works on files for minutes.
* ``concurrency_limit``: turns for work that only few may do at the same time.
"""
