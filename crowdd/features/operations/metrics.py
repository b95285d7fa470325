"""Figures for Prometheus. Each process counts for itself; where there are several, the one that is asked adds up.

prometheus_client then keeps the figures in files (its multiprocess mode), which the process that starts the others
names by PROMETHEUS_MULTIPROC_DIR.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Iterator, Mapping, Sequence

import attrs
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector
from twisted.internet.interfaces import IReactorTime

from crowdd import __version__
from crowdd.database.access import Database, Row
from crowdd.database.pool import PoolFigures
from crowdd.kernel.concurrency.cache import Cache
from crowdd.kernel.config import Settings
from crowdd.sched import statements as sched_statements
from crowdd.sched.job_runner import overview

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
KEPT = 5.0  # seconds that figures of the database are good for
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"})
_PAGE = os.sysconf("SC_PAGE_SIZE")
# Of the figures that storage reads.
_OF_DATABASE = {
    "queue_waiting": ("crowdd_queue_waiting_tasks", "Background tasks that wait"),
    "queue_running": ("crowdd_queue_running_tasks", "Background tasks that run"),
    "queue_late": ("crowdd_queue_oldest_due_seconds", "How long the oldest waiting background task has been due"),
    "deliveries_waiting": ("crowdd_webhook_deliveries_waiting", "Webhook deliveries that wait"),
    "deliveries_late": ("crowdd_webhook_deliveries_oldest_due_seconds", "How long the oldest delivery has been due"),
    "webhooks_failing": ("crowdd_webhooks_failing", "Webhooks whose last attempt failed"),
    "mail_waiting": ("crowdd_mail_waiting_messages", "E-mails that wait"),
    "leases": ("crowdd_active_leases", "Tasks that are leased to volunteers now"),
    "last_backup": ("crowdd_last_backup_timestamp_seconds", "When the last backup was begun, since 1970. 0: never"),
    "unfolded": ("crowdd_pending_changes", "Counter changes that are not yet summed up"),
}
_OF_JOBS = {
    "overdue": ("crowdd_job_overdue_seconds", "How long a periodic job has been due"),
    "failures": ("crowdd_job_consecutive_failures", "Consecutive failures of a periodic job"),
    "runs": ("crowdd_job_runs_total", "Runs of a periodic job since the database was created"),
}


class _Typed:
    """The metrics of a registry. What only grows is a counter, also where its value is read instead of counted here."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def collect(self) -> Iterator[Metric]:
        """As ``generate_latest`` asks for them."""
        for metric in self._registry.collect():
            if metric.type == "gauge" and metric.name.endswith("_total"):
                metric.name, metric.type = metric.name.removesuffix("_total"), "counter"
            yield metric


@attrs.frozen
class ProcessGauges:
    """Where the figures of this process come from; each is called when somebody wants to know."""

    pools: Mapping[str, Callable[[], PoolFigures]]
    connections: Callable[[], int]
    requests: Callable[[], int]
    streams: Callable[[], int]
    untranslated: Callable[[], Mapping[str, int]]
    long_reads: Mapping[str, int]  # by what served them


@attrs.frozen
class Declared:
    """A metric as documents show it."""

    name: str
    doc: str
    labels: tuple[str, ...]


class Metrics:
    """The figures of this process, and those of the whole server for the program that scrapes it."""

    def __init__(self, clock: IReactorTime, db: Database, settings: Settings) -> None:
        self._db, self._settings = db, settings
        disable_created_metrics()  # when each series began: twice as many lines, and Prometheus knows
        self._registry = CollectorRegistry()
        self._figures = Cache[bool](clock, KEPT)
        self._gauges: ProcessGauges | None = None
        self._of_route: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        self.declared: list[Declared] = []
        self._requests = Counter(
            *self._declare("crowdd_requests_total", "Requests answered", "route", "method", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            *self._declare("crowdd_request_duration_seconds", "Time until the response, as a histogram", "route"),
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self._stalls = Histogram(
            *self._declare(
                "crowdd_reactor_stall_seconds",
                "Turns of the reactor above 0.05 seconds, in which nobody else was served, as a histogram",
            )[:2],
            buckets=_BUCKETS[4:],
            registry=self._registry,
        )
        self._in_flight = self._sum("crowdd_requests_in_flight", "Requests that are being processed")
        self._connections = self._sum("crowdd_open_connections", "Open client connections")
        self._streams = self._sum("crowdd_open_streams", "Open event streams")
        self._pool = self._sum(
            "crowdd_pool_connections",
            "Connections to PostgreSQL (free, busy, missing), for requests and for background work",
            "pool",
            "state",
        )
        self._waiting = self._sum(
            "crowdd_pool_waiting_requests", "Requests that wait for a database connection", "pool"
        )
        self._long_reads = self._sum(
            "crowdd_long_reads_total", "Exports and lists that may read much, where there is a replica", "served_by"
        )
        self._untranslated = self._sum(
            "crowdd_untranslated_messages_total", "Strings served in English because no translation exists", "language"
        )
        self._page_cache = Counter(
            *self._declare(
                "crowdd_page_cache_requests_total",
                "Requests of visitors for pages that many get alike: a hit was in the cache, a miss was not",
                "result",
            ),
            registry=self._registry,
        )
        self._page_hits, self._page_misses = (self._page_cache.labels(result) for result in ("hit", "miss"))
        self._page_bytes = -1
        self._page_cache_bytes = self._sum("crowdd_page_cache_bytes", "Bytes of the pages in the cache")
        self._memory = self._each("crowdd_resident_memory_bytes", "Resident memory of the process")
        self._files = self._each("crowdd_open_fds", "Open file descriptors of the process")
        self._cpu = self._each("crowdd_cpu_seconds_total", "CPU time of the process")
        self._found = {key: self._latest(*words) for key, words in _OF_DATABASE.items()}
        self._jobs = {key: self._latest(*words, "job") for key, words in _OF_JOBS.items()}
        self._reachable = self._latest(
            "crowdd_database_up", "1 if the database values could be read. If 0, they are older"
        )
        self._latest("crowdd_info", "The version that is running", "version").labels(__version__).set(1)

    def _declare(self, name: str, doc: str, *labels: str) -> tuple[str, str, tuple[str, ...]]:
        self.declared.append(Declared(name, doc, labels))
        return name, doc, labels

    def _sum(self, name: str, doc: str, *labels: str) -> Gauge:
        return Gauge(*self._declare(name, doc, *labels), registry=self._registry, multiprocess_mode="livesum")

    def _each(self, name: str, doc: str) -> Gauge:
        self._declare(name, doc, "pid")  # added where there are several processes
        return Gauge(name, doc, registry=self._registry, multiprocess_mode="liveall")

    def _latest(self, name: str, doc: str, *labels: str) -> Gauge:
        return Gauge(*self._declare(name, doc, *labels), registry=self._registry, multiprocess_mode="mostrecent")

    def answered(self, route: str, method: str, status: int, seconds: float) -> None:
        """Counts a request; ``route`` is the address without what is particular to one request."""
        key = (route, method if method in _METHODS else "other", status)
        metrics = self._of_route.get(key)
        if metrics is None:
            metrics = self._of_route[key] = (self._requests.labels(*key), self._seconds.labels(route))
        metrics[0].inc()
        metrics[1].observe(seconds)

    def stalled(self, seconds: float) -> None:
        """Counts a turn of the reactor in which others waited."""
        self._stalls.observe(seconds)

    def page_cache(self, hit: bool, size: int) -> None:
        """Counts a request for a page that many get alike: whether it was in the cache, and the size of the cache."""
        (self._page_hits if hit else self._page_misses).inc()
        if size != self._page_bytes:
            self._page_bytes = size
            self._page_cache_bytes.set(size)

    def watch(self, gauges: ProcessGauges) -> None:
        """Where the figures of this process come from."""
        self._gauges = gauges

    def look(self) -> None:
        """Reads the figures of this process."""
        watched = self._gauges
        if watched is None:
            return
        self._in_flight.set(watched.requests())
        self._connections.set(watched.connections())
        self._streams.set(watched.streams())
        for name, pool in watched.pools.items():
            now = pool()
            self._waiting.labels(name).set(now.waiting)
            for state, number in (("free", now.free), ("busy", now.busy), ("missing", now.size - now.free - now.busy)):
                self._pool.labels(name, state).set(number)
        for served_by, times in watched.long_reads.items():
            self._long_reads.labels(served_by).set(times)
        for language, times in watched.untranslated().items():
            self._untranslated.labels(language).set(times)
        used = resource.getrusage(resource.RUSAGE_SELF)
        self._cpu.set(used.ru_utime + used.ru_stime)
        self._memory.set(_resident())
        self._files.set(len(os.listdir("/proc/self/fd")))

    async def text(self) -> bytes:
        """All figures as Prometheus reads them. Those of the database are as they were when it could be read last."""
        await self._figures.get("", self._ask)
        self.look()
        if FOLDER not in os.environ:
            return generate_latest(_Typed(self._registry))
        together = CollectorRegistry()
        MultiProcessCollector(together)
        return generate_latest(_Typed(together))

    async def _ask(self) -> bool:
        """Whether the database could be read."""
        try:
            row, jobs = await sched_statements.read_figures(self._db), await overview(self._db, self._settings)
        except Exception:
            self._reachable.set(0)
            return False
        self._reachable.set(1)
        self._keep(row, jobs)
        return True

    def _keep(self, row: Row, jobs: Sequence[Row]) -> None:
        for key, gauge in self._found.items():
            gauge.set(row[key])
        for job in jobs:
            for key, gauge in self._jobs.items():
                gauge.labels(job["name"]).set(job[key] or 0)


def _resident() -> int:
    with open("/proc/self/statm", "rb") as figures_:
        return int(figures_.read().split()[1]) * _PAGE
