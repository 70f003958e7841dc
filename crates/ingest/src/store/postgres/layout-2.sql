-- Layout 2 of perfpipe's schema, made of layout 1. Run once, inside a transaction.

alter table perfpipe.runs add column damage jsonb not null default '[]';
comment on column perfpipe.runs.damage is
  'What of the files was damaged and read as far as it could be (ingest --salvage): such a run is partial. Empty for a whole run.';
update perfpipe.layout set version = 2;
