-- The rows that perfpipe reads: one of several.
create index if not exists seconds_packed on perfpipe.seconds (run, second) where packed <> '';
