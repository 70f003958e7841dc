-- Numbers come first, so that none needs padding, then booleans and texts. In a usual log no column is null: a null
-- would cost the row eight bytes.
create table {table} (
{lines}  t_ms          int not null,
  elapsed       int not null,
  latency       int,
  connect       int,
  idle_time     int,
  all_threads   int,
  bytes         bigint,
  sent_bytes    bigint,
  cpu           float8,
  success       boolean not null,
  transaction   boolean not null,
  label         text,
  response_code text,
  injector      text not null
){using};
comment on table {table} is
  'Every sample of the run that perfpipe.runs lists with this table_name. A value that the log lacks is null.';
comment on column {table}.t_ms is 'timeStamp minus the run''s t0, ms.';
comment on column {table}.elapsed is 'The elapsed time of the request in the run''s unit (perfpipe.runs.resolution_us).';
comment on column {table}.latency is 'Time to first byte, in the run''s unit.';
comment on column {table}.connect is 'Time to connect, in the run''s unit.';
comment on column {table}.idle_time is 'Time spent idle within the sample, ms.';
comment on column {table}.all_threads is 'Active threads of the sample''s injector.';
comment on column {table}.bytes is 'Bytes received.';
comment on column {table}.sent_bytes is 'Bytes sent.';
comment on column {table}.cpu is 'The CPU reading that was joined to the sample, percent of one core.';
comment on column {table}.success is 'JMeter''s verdict.';
comment on column {table}.transaction is 'True for a transaction controller''s own record, which is not a request.';
comment on column {table}.label is 'The sampler''s name.';
comment on column {table}.response_code is 'The response code, or the exception that JMeter logged instead.';
comment on column {table}.injector is 'The machine that sent the request; empty if unknown.';
