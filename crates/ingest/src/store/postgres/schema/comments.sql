-- What tables, views and columns are. Run after tables.sql and views.sql, and again after a migration.

comment on schema perfpipe is
  'Load tests stored by perfpipe. Start at perfpipe.runs; each run''s samples are in the table that runs.table_name names.';
comment on table perfpipe.layout is 'The version of this schema''s layout: one row.';
comment on column perfpipe.layout.version is 'A perfpipe reads and writes the layouts that it knows and refuses all others.';
comment on column perfpipe.layout.created_at is 'When the schema was made.';
comment on table perfpipe.runs is 'One row a run: one log of one test against one framework, once or several times (repeat).';
comment on column perfpipe.runs.run is
  'The run''s key as one text: framework_test, and framework_test#2 of repeat 2. _ in framework, # in either and % are %5F, %23 and %25.';
comment on column perfpipe.runs.framework is 'The system under test.';
comment on column perfpipe.runs.test is 'The test it was put to, usually an endpoint.';
comment on column perfpipe.runs.repeat is 'Which run of this test of this framework it is, from 1.';
comment on column perfpipe.runs.table_name is 'The table of this schema that holds the samples; null when only their counts were stored.';
comment on column perfpipe.runs.t0 is 'Time zero: the smallest timeStamp of all accepted records.';
comment on column perfpipe.runs.seconds is 'Seconds from the first to the last, silent ones counted.';
comment on column perfpipe.runs.requests is 'All requests: successes and failures.';
comment on column perfpipe.runs.successes is 'Requests that JMeter calls successful.';
comment on column perfpipe.runs.failures is 'Requests that JMeter calls failed.';
comment on column perfpipe.runs.transactions is 'Transaction controllers'' own records, which are not requests.';
comment on column perfpipe.runs.rejects is 'Records that could not be read: see perfpipe.rejects.';
comment on column perfpipe.runs.samples_stored is 'Whether the samples themselves are stored, not only their counts.';
comment on column perfpipe.runs.inferred is 'Whether framework or test were inferred from the files.';
comment on column perfpipe.runs.t0_ms is 'Time zero as epoch milliseconds.';
comment on column perfpipe.runs.last_ms is 'The largest timeStamp, epoch milliseconds.';
comment on column perfpipe.runs.last_end_ms is
  'The largest timeStamp + elapsed of all requests, epoch milliseconds; null in runs stored before this was.';
comment on column perfpipe.runs.transactions_end_ms is 'The same of transaction controllers'' own records.';
comment on column perfpipe.runs.generation is 'Counts what was stored: a run that replaces another has a new number.';
comment on column perfpipe.runs.cpu_offset is 'Seconds added to the clock of the CPU readings at ingest.';
comment on column perfpipe.runs.cpu_lookback is 'How many seconds before its own a sample''s CPU reading could be at ingest.';
comment on column perfpipe.runs.labels is 'The labels met in perfpipe.seconds.';
comment on column perfpipe.runs.injectors is 'The machines that sent load; an empty text is one that can not be told.';
comment on column perfpipe.runs.sources is 'The files read: name, member of a zip, kind, size in bytes and CRC-32.';
comment on column perfpipe.runs.options is 'Options used at ingest, by name.';
comment on column perfpipe.runs.tool_version is 'The version of perfpipe that stored the run.';
comment on column perfpipe.runs.ingested_at is 'When the run was stored.';
comment on column perfpipe.runs.damage is
  'What of the files was damaged and read as far as it could be (it was salvaged): such a run is partial. Empty for a whole run.';
comment on table perfpipe.seconds is
  'Exact counts of each second, by label, success and transaction. perfpipe.elapsed_counts has them one a row.';
comment on column perfpipe.seconds.run is 'The run: see perfpipe.runs.run.';
comment on column perfpipe.seconds.second is 'Whole seconds since t0, from 0.';
comment on column perfpipe.seconds.label is 'The sampler''s name; labels beyond 200 share (other).';
comment on column perfpipe.seconds.success is 'JMeter''s verdict.';
comment on column perfpipe.seconds.transaction is 'Whether these are transaction controllers'' own records.';
comment on column perfpipe.seconds.samples is 'How many samples: the sum of counts.';
comment on column perfpipe.seconds.elapsed is 'The different elapsed times met, ms, ascending.';
comment on column perfpipe.seconds.counts is 'How many samples took each of them.';
comment on column perfpipe.seconds.latency_n is 'Samples that had a latency.';
comment on column perfpipe.seconds.latency_sum is 'Sum of their times to first byte, ms.';
comment on column perfpipe.seconds.latency_min is 'The smallest, ms.';
comment on column perfpipe.seconds.latency_max is 'The largest, ms.';
comment on column perfpipe.seconds.connect_sum is 'Sum of the times to connect, ms.';
comment on column perfpipe.seconds.bytes_sum is 'Sum of the bytes received.';
comment on column perfpipe.seconds.sent_bytes_sum is 'Sum of the bytes sent.';
comment on column perfpipe.seconds.before_boundary is
  'Samples in the epoch second in which this second begins; the others are in the next one.';
comment on column perfpipe.seconds.injectors is 'The machines that sent these samples.';
comment on column perfpipe.seconds.injector_samples is 'For each of them, samples that told the active threads.';
comment on column perfpipe.seconds.injector_threads is 'For each of them, the sum of the active threads told.';
comment on column perfpipe.seconds.packed is
  'The same figures in few bytes, for perfpipe''s own reading, which arrays would hold up.';
comment on table perfpipe.cpu is 'CPU use of the server during a run.';
comment on column perfpipe.cpu.run is 'The run: see perfpipe.runs.run.';
comment on column perfpipe.cpu.clock is 'Epoch second of the reading, as exported.';
comment on column perfpipe.cpu.value is 'Percent, in the unit of the export.';
comment on table perfpipe.errors is 'Failures by second, label, response code and message.';
comment on column perfpipe.errors.run is 'The run: see perfpipe.runs.run.';
comment on column perfpipe.errors.second is 'Whole seconds since t0, from 0.';
comment on column perfpipe.errors.label is 'The sampler''s name, or (other).';
comment on column perfpipe.errors.response_code is 'The response code; empty where the log has none.';
comment on column perfpipe.errors.message is 'failureMessage, else responseMessage, at most 500 characters; (other) beyond 1,000 different ones.';
comment on column perfpipe.errors.transaction is 'Whether these are transaction controllers'' own records.';
comment on column perfpipe.errors.count is 'How many.';
comment on table perfpipe.labels is 'Whole-run counts of each label, also where its seconds share (other).';
comment on column perfpipe.labels.run is 'The run: see perfpipe.runs.run.';
comment on column perfpipe.labels.label is 'The sampler''s name.';
comment on column perfpipe.labels.successes is 'Successful requests.';
comment on column perfpipe.labels.failures is 'Failed requests.';
comment on column perfpipe.labels.transactions is 'Transaction controllers'' own records.';
comment on table perfpipe.rejects is 'Records of the logs that could not be read, whole.';
comment on column perfpipe.rejects.run is 'The run: see perfpipe.runs.run.';
comment on column perfpipe.rejects.number is 'Counts the rejects of a run, from 1, in the order of the log.';
comment on column perfpipe.rejects.file is 'The log''s file.';
comment on column perfpipe.rejects.member is 'The member inside a zip.';
comment on column perfpipe.rejects.line is 'The line, from 1, on which the record begins.';
comment on column perfpipe.rejects.byte is 'The byte, from 0, of the unpacked log at which it begins.';
comment on column perfpipe.rejects.reason is 'Why it was not accepted.';
comment on column perfpipe.rejects.record is 'The record as it stands in the log.';
comment on column perfpipe.rejects.code is
  'The name of the reason, which never changes, as in not-a-number; null in runs stored before this was.';
comment on view perfpipe.elapsed_counts is
  'How many samples of a second took how many ms: perfpipe.seconds with its arrays laid out one pair a row.';
comment on column perfpipe.elapsed_counts.run is 'The run: see perfpipe.runs.run.';
comment on column perfpipe.elapsed_counts.framework is 'The system under test.';
comment on column perfpipe.elapsed_counts.test is 'The test it was put to.';
comment on column perfpipe.elapsed_counts.repeat is 'Which run of this test of this framework it is, from 1.';
comment on column perfpipe.elapsed_counts.second is 'Whole seconds since t0, from 0.';
comment on column perfpipe.elapsed_counts.label is 'The sampler''s name; labels beyond 200 share (other).';
comment on column perfpipe.elapsed_counts.success is 'JMeter''s verdict.';
comment on column perfpipe.elapsed_counts.transaction is 'Whether these are transaction controllers'' own records.';
comment on column perfpipe.elapsed_counts.elapsed is 'Elapsed time, ms.';
comment on column perfpipe.elapsed_counts.count is 'How many samples took it.';
comment on view perfpipe.per_second is
  'Requests of each second that had any: successes, failures and the mean elapsed time of the successes, ms.';
comment on column perfpipe.per_second.run is 'The run: see perfpipe.runs.run.';
comment on column perfpipe.per_second.framework is 'The system under test.';
comment on column perfpipe.per_second.test is 'The test it was put to.';
comment on column perfpipe.per_second.repeat is 'Which run of this test of this framework it is, from 1.';
comment on column perfpipe.per_second.second is 'Whole seconds since t0, from 0.';
comment on column perfpipe.per_second.successes is 'Requests that JMeter calls successful.';
comment on column perfpipe.per_second.failures is 'Requests that JMeter calls failed.';
comment on column perfpipe.per_second.elapsed_mean is 'Mean elapsed time of the successes, ms; null where there was none.';
