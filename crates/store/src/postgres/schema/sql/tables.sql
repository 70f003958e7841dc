-- Creates the tables of layout 4 in the existing schema perfpipe. Runs once, inside a transaction, before views.sql and
-- comments.sql. A run's rows are identified by its key as text, the first column of every key and index, so that all
-- tables can be distributed by it. Hence there is no generated column, and nothing is unique but the keys.

create table perfpipe.layout (
  version    int not null,
  created_at timestamptz not null default pg_catalog.now()
);

insert into perfpipe.layout (version) values (4);

create table perfpipe.runs (
  run            text collate "C" primary key,
  framework      text not null,
  test           text not null,
  repeat         int not null,
  table_name     text,
  t0             timestamptz not null,
  seconds        int not null,
  requests       bigint not null,
  successes      bigint not null,
  failures       bigint not null,
  transactions   bigint not null,
  rejects        bigint not null,
  samples_stored boolean not null,
  inferred       boolean not null,
  t0_ms          bigint not null,
  last_ms        bigint not null,
  cpu_offset     bigint not null,
  cpu_lookback   int not null,
  labels         text[] not null,
  injectors      text[] not null,
  sources        jsonb not null,
  options        jsonb not null,
  tool_version   text not null,
  ingested_at    timestamptz not null,
  damage         jsonb not null,
  last_end_ms    bigint,
  transactions_end_ms bigint,
  resolution_us  int,
  stripes        jsonb,
  generation     bigint not null generated always as identity
);

create table perfpipe.seconds (
  run              text collate "C" not null references perfpipe.runs on delete cascade,
  second           int not null,
  label            text not null,
  success          boolean not null,
  transaction      boolean not null,
  samples          bigint not null,
  elapsed          int[] not null,
  counts           int[] not null,
  latency_n        bigint not null,
  latency_sum      bigint not null,
  latency_min      int,
  latency_max      int,
  connect_sum      bigint not null,
  bytes_sum        bigint not null,
  sent_bytes_sum   bigint not null,
  before_boundary  bigint not null,
  injectors        text[] not null,
  injector_samples bigint[] not null,
  injector_threads bigint[] not null,
  packed           bytea not null
);

-- Kept in the row itself, since perfpipe reads it. The arrays are moved out of the row instead.
alter table perfpipe.seconds alter column packed set storage main;

create index seconds_run on perfpipe.seconds (run, second);

create table perfpipe.cpu (
  run    text collate "C" not null references perfpipe.runs on delete cascade,
  clock  bigint not null,
  value  float8 not null,
  primary key (run, clock)
);

create table perfpipe.errors (
  run           text collate "C" not null references perfpipe.runs on delete cascade,
  second        int not null,
  label         text not null,
  response_code text not null,
  message       text not null,
  transaction   boolean not null,
  count         bigint not null
);

create index errors_run on perfpipe.errors (run, second);

create table perfpipe.labels (
  run          text collate "C" not null references perfpipe.runs on delete cascade,
  label        text not null,
  successes    bigint not null,
  failures     bigint not null,
  transactions bigint not null
);

create index labels_run on perfpipe.labels (run);

create table perfpipe.rejects (
  run    text collate "C" not null references perfpipe.runs on delete cascade,
  number bigint not null,
  file   text not null,
  member text,
  line   bigint not null,
  byte   bigint not null,
  reason text not null,
  record text not null,
  code   text,
  primary key (run, number)
);
