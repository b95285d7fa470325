"""A database that goes away and comes back while PostgreSQL itself runs on for the other tests."""

from __future__ import annotations

from pathlib import Path

from psycopg2.extensions import make_dsn, parse_dsn

from support.servers.postgres import Postgres


class Switch:
    """``dsn`` leads to a database as long as it is on; a link to PostgreSQL's socket is made and taken away."""

    def __init__(self, postgres: Postgres, dsn: str, folder: Path, *, on: bool = True) -> None:
        words = parse_dsn(dsn)
        name = f".s.PGSQL.{words.get('port', '5432')}"
        self._postgres, self._name = postgres, words["dbname"]
        self._there, self._link = Path(words["host"]) / name, folder / name
        self.dsn = make_dsn(dsn, host=str(folder))
        if on:
            self.on()

    def on(self) -> None:
        """It takes connections."""
        self._link.symlink_to(self._there)

    def off(self) -> None:
        """Nobody can connect, and nobody is connected any more, when it returns."""
        self._link.unlink()
        self.cut()

    def cut(self) -> None:
        """Ends all its sessions and waits for their end."""
        self._postgres.fetch(
            "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = %s", self._name
        )

    def alter(self, words: str) -> None:
        """ALTER DATABASE; sessions that begin afterwards are like that, so all others end."""
        self._postgres.run(f"ALTER DATABASE {self._name} {words}")
        self.cut()
