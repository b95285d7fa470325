-- expands: the time of day as a periodic job last saw it (docs/decisions/0228-let-nothing-wait-for-a-clock-that-was-set-back.md)
CREATE TABLE clock_seen (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    at timestamptz NOT NULL
);
