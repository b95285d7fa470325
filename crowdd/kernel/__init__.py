"""What knows nothing of crowdd: errors, logs, the reactor, settings, concurrency, languages."""
