"""Connections and sockets: limits, bodies, streams, conditional requests, CORS."""
