"""Mechanisms for work at the same time.

All layers use them instead of timers and Deferreds of their own:

* ``timing``: polling, growing pauses after failures, deadlines, and work that outlives its caller.
* ``throttling``: turns for work that only few may do at a time, and work that is asked for often and done seldom.
* ``cache``: values that are good for some seconds or for one version, and calls that callers share.
* ``batching``: calls at the same time as one statement.
* ``worker_thread``: threads for what would hold up the reactor.
* ``isolated``: processes for heavy or risky work, their limits, and whether one is started again.
"""
