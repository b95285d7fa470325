"""A cable between clients and a server that can be cut: every connection breaks off wherever it is."""

from __future__ import annotations

import contextlib
import socket
import threading


class Cable:
    """Listens on ``url`` and passes everything on to a port of this machine, until it is cut."""

    def __init__(self, port: int) -> None:
        self._port, self._open = port, set[socket.socket]()
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> int:
        """Breaks all connections off, new ones are taken again; how many there were."""
        with self._lock:
            ends = list(self._open)
            self._open.clear()
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        return len(ends) // 2

    def close(self) -> None:
        """No connection is taken any more."""
        self._listener.close()
        self.cut()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # closed
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._join, args=(client,), daemon=True).start()

    def _join(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection(("127.0.0.1", self._port))
        except OSError:  # it is being restarted
            client.close()
            return
        with self._lock:
            self._open |= {client, server}
        threading.Thread(target=self._carry, args=(server, client), daemon=True).start()
        self._carry(client, server)

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                target.sendall(data)
        with self._lock:
            self._open -= {source, target}
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
