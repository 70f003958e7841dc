-- Creates the tables of parts of runs, which the first part does. A part is no row of runs, and is gone once it is merged.

create table perfpipe.parts (
  run         text collate "C" not null,
  part        int not null,
  parts       int not null,
  framework   text not null,
  test        text not null,
  repeat      int not null,
  requests    bigint not null,
  table_name  text,
  info        jsonb not null,
  terms       jsonb not null,
  generation  bigint not null generated always as identity,
  primary key (run, part)
);

create table perfpipe.partfiles (
  run      text collate "C" not null,
  part     int not null,
  number   int not null,
  content  bytea not null,
  primary key (run, part, number),
  foreign key (run, part) references perfpipe.parts on delete cascade
);

comment on table perfpipe.parts is 'Parts of runs that are not merged yet (perfpipe ingest --part).';
comment on column perfpipe.parts.part is 'The number of the part, from 1.';
comment on column perfpipe.parts.parts is 'The number of all parts of the run.';
comment on column perfpipe.parts.table_name is 'The table of its samples; null if they are not stored.';
comment on column perfpipe.parts.info is 'What the row of a run would tell.';
comment on table perfpipe.partfiles is 'The counts of parts, for perfpipe: pieces of a packed run.'
