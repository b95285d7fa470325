"""HTTP below the views: connections, routing, streams, conditional requests, CORS."""
