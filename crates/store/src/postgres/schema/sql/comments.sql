-- Describes the tables, views and columns. Runs after tables.sql and views.sql, and again after a migration.

comment on schema perfpipe is
  'Load tests stored by perfpipe. Start at perfpipe.runs; each run''s samples are in the table that runs.table_name names.';
comment on table perfpipe.layout is 'The layout of this schema: one row.';
comment on column perfpipe.layout.version is 'The layout''s number. Each version of perfpipe reads and writes the layouts that it knows, and refuses all others.';
comment on column perfpipe.layout.created_at is 'When the schema was created.';
comment on table perfpipe.runs is 'One row for each run: a test of a framework, with the number of its repeat.';
comment on column perfpipe.runs.run is
  'The run''s key as one text: framework_test, and framework_test#2 of repeat 2. _ in framework, # in either and % are %5F, %23 and %25.';
comment on column perfpipe.runs.framework is 'The system under test.';
comment on column perfpipe.runs.test is 'The test, usually named after an endpoint.';
comment on column perfpipe.runs.repeat is 'The number of the run among those of the same framework and test, from 1.';
comment on column perfpipe.runs.table_name is 'The table of this schema that holds the samples; null if only their counts are stored.';
comment on column perfpipe.runs.t0 is 'Time zero: the smallest timeStamp of all accepted records.';
comment on column perfpipe.runs.seconds is 'The number of seconds from the first to the last, including silent ones.';
comment on column perfpipe.runs.requests is 'All requests: successes and failures.';
comment on column perfpipe.runs.successes is 'Requests that JMeter calls successful.';
comment on column perfpipe.runs.failures is 'Requests that JMeter calls failed.';
comment on column perfpipe.runs.transactions is 'Transaction controllers'' own records, which are not requests.';
comment on column perfpipe.runs.rejects is 'Records that could not be read: see perfpipe.rejects.';
comment on column perfpipe.runs.samples_stored is 'True if the samples are stored, not only their counts.';
comment on column perfpipe.runs.inferred is 'True if the framework or the test was inferred from the files.';
comment on column perfpipe.runs.t0_ms is 'Time zero as epoch milliseconds.';
comment on column perfpipe.runs.last_ms is 'The largest timeStamp, epoch milliseconds.';
comment on column perfpipe.runs.last_end_ms is
  'The largest timeStamp + elapsed of all requests, epoch milliseconds; null in runs of earlier versions.';
comment on column perfpipe.runs.transactions_end_ms is 'As last_end_ms, for transaction controllers'' own records.';
comment on column perfpipe.runs.stripes is
  'Where samples lie if they came on several connections: the first ones in the run''s table, then rows of each of its tables in turn; or the column that tells their order.';
comment on column perfpipe.runs.resolution_us is
  'The unit of the run''s times (elapsed, latency, connect) in µs; null in runs of earlier versions: 1000.';
comment on column perfpipe.runs.generation is 'Identifies what was stored: a run that replaces another has a new number.';
comment on column perfpipe.runs.cpu_offset is 'Seconds added to the clock of the CPU readings at ingest.';
comment on column perfpipe.runs.cpu_lookback is 'The maximum age, in seconds, of a CPU reading that was joined to a sample at ingest.';
comment on column perfpipe.runs.labels is 'The labels in perfpipe.seconds.';
comment on column perfpipe.runs.injectors is 'The machines that sent load; an empty text is an unknown one.';
comment on column perfpipe.runs.sources is 'The files read: name, member of a zip, kind, size in bytes and CRC-32.';
comment on column perfpipe.runs.options is 'Options used at ingest, by name.';
comment on column perfpipe.runs.tool_version is 'The version of perfpipe that stored the run.';
comment on column perfpipe.runs.ingested_at is 'When the run was stored.';
comment on column perfpipe.runs.damage is
  'The files that were damaged and salvaged, and how far each was read: such a run is partial. Empty for a whole run.';
comment on table perfpipe.seconds is
  'Exact counts of each second, by label, success and transaction. The view perfpipe.elapsed_counts has one count in each row.';
comment on column perfpipe.seconds.run is 'The run: see perfpipe.runs.run.';
comment on column perfpipe.seconds.second is 'Whole seconds since t0, from 0.';
comment on column perfpipe.seconds.label is 'The sampler''s name; labels beyond 200 are counted together, as (other).';
comment on column perfpipe.seconds.success is 'JMeter''s verdict.';
comment on column perfpipe.seconds.transaction is 'True for transaction controllers'' own records.';
comment on column perfpipe.seconds.samples is 'The number of samples: the sum of counts.';
comment on column perfpipe.seconds.elapsed is 'The distinct elapsed times in the run''s unit (perfpipe.runs.resolution_us), ascending.';
comment on column perfpipe.seconds.counts is 'The number of samples with each of these times.';
comment on column perfpipe.seconds.latency_n is 'The number of samples with a latency.';
comment on column perfpipe.seconds.latency_sum is 'Sum of their times to first byte, in the run''s unit.';
comment on column perfpipe.seconds.latency_min is 'The smallest latency, in the run''s unit.';
comment on column perfpipe.seconds.latency_max is 'The largest latency, in the run''s unit.';
comment on column perfpipe.seconds.connect_sum is 'Sum of the times to connect, in the run''s unit.';
comment on column perfpipe.seconds.bytes_sum is 'Sum of the bytes received.';
comment on column perfpipe.seconds.sent_bytes_sum is 'Sum of the bytes sent.';
comment on column perfpipe.seconds.before_boundary is
  'The number of samples in the epoch second in which this second begins; the others are in the next epoch second.';
comment on column perfpipe.seconds.injectors is 'The machines that sent these samples.';
comment on column perfpipe.seconds.injector_samples is 'For each injector, the number of samples that state the active threads.';
comment on column perfpipe.seconds.injector_threads is 'For each injector, the sum of the active threads that its samples state.';
comment on column perfpipe.seconds.packed is
  'The same figures in a compact form, which perfpipe reads faster than the arrays: those of several rows, in the last of them.';
comment on table perfpipe.cpu is 'CPU use of the server during a run.';
comment on column perfpipe.cpu.run is 'The run: see perfpipe.runs.run.';
comment on column perfpipe.cpu.clock is 'Epoch second of the reading, as exported.';
comment on column perfpipe.cpu.value is 'Percent of one core.';
comment on table perfpipe.errors is 'Failures by second, label, response code and message.';
comment on column perfpipe.errors.run is 'The run: see perfpipe.runs.run.';
comment on column perfpipe.errors.second is 'Whole seconds since t0, from 0.';
comment on column perfpipe.errors.label is 'The sampler''s name, or (other).';
comment on column perfpipe.errors.response_code is 'The response code; empty where the log has none.';
comment on column perfpipe.errors.message is 'failureMessage, or else responseMessage, at most 500 characters; (other) beyond 1,000 distinct ones.';
comment on column perfpipe.errors.transaction is 'True for transaction controllers'' own records.';
comment on column perfpipe.errors.count is 'The number of failures.';
comment on table perfpipe.labels is 'Counts of each label over the whole run, even if its seconds are counted as (other).';
comment on column perfpipe.labels.run is 'The run: see perfpipe.runs.run.';
comment on column perfpipe.labels.label is 'The sampler''s name.';
comment on column perfpipe.labels.successes is 'Successful requests.';
comment on column perfpipe.labels.failures is 'Failed requests.';
comment on column perfpipe.labels.transactions is 'Transaction controllers'' own records.';
comment on table perfpipe.rejects is 'Records of the logs that were rejected, in full.';
comment on column perfpipe.rejects.run is 'The run: see perfpipe.runs.run.';
comment on column perfpipe.rejects.number is 'The number of the reject in the order of the log, from 1.';
comment on column perfpipe.rejects.file is 'The log''s file.';
comment on column perfpipe.rejects.member is 'The member inside a zip.';
comment on column perfpipe.rejects.line is 'The line, from 1, on which the record begins.';
comment on column perfpipe.rejects.byte is 'The byte, from 0, of the unpacked log at which it begins.';
comment on column perfpipe.rejects.reason is 'The reason for which it was rejected, as a clause.';
comment on column perfpipe.rejects.record is 'The record as it stands in the log.';
comment on column perfpipe.rejects.code is
  'The stable name of the reason, as in not-a-number; null in runs of earlier versions.';
comment on view perfpipe.elapsed_counts is
  'The number of samples by second and elapsed time: perfpipe.seconds with one row for each pair in its arrays.';
comment on column perfpipe.elapsed_counts.run is 'The run: see perfpipe.runs.run.';
comment on column perfpipe.elapsed_counts.framework is 'The system under test.';
comment on column perfpipe.elapsed_counts.test is 'The test.';
comment on column perfpipe.elapsed_counts.repeat is 'The number of the run among those of the same framework and test, from 1.';
comment on column perfpipe.elapsed_counts.second is 'Whole seconds since t0, from 0.';
comment on column perfpipe.elapsed_counts.label is 'The sampler''s name; labels beyond 200 are counted together, as (other).';
comment on column perfpipe.elapsed_counts.success is 'JMeter''s verdict.';
comment on column perfpipe.elapsed_counts.transaction is 'True for transaction controllers'' own records.';
comment on column perfpipe.elapsed_counts.elapsed is 'Elapsed time in the run''s unit (perfpipe.runs.resolution_us).';
comment on column perfpipe.elapsed_counts.elapsed_ms is 'Elapsed time, ms.';
comment on column perfpipe.elapsed_counts.count is 'The number of samples with this elapsed time.';
comment on view perfpipe.per_second is
  'Requests of each second that had any: successes, failures and the mean elapsed time of the successes, ms.';
comment on column perfpipe.per_second.run is 'The run: see perfpipe.runs.run.';
comment on column perfpipe.per_second.framework is 'The system under test.';
comment on column perfpipe.per_second.test is 'The test.';
comment on column perfpipe.per_second.repeat is 'The number of the run among those of the same framework and test, from 1.';
comment on column perfpipe.per_second.second is 'Whole seconds since t0, from 0.';
comment on column perfpipe.per_second.successes is 'Requests that JMeter calls successful.';
comment on column perfpipe.per_second.failures is 'Requests that JMeter calls failed.';
comment on column perfpipe.per_second.elapsed_mean is 'Mean elapsed time of the successes, ms; null if there was none.';
