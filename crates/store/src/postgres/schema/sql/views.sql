-- The views of layout 4. A filter by run, or by framework, test and repeat, is applied before anything is summed.

create or replace view perfpipe.elapsed_counts as
  select r.framework, r.test, r.repeat, s.second, s.label, s.success, s.transaction, pair.elapsed, pair.count,
    s.run, pair.elapsed / (1000 / coalesce(r.resolution_us, 1000))::float8 as elapsed_ms
  from perfpipe.runs r
  join perfpipe.seconds s using (run)
  cross join lateral unnest(s.elapsed, s.counts) as pair (elapsed, count);

create or replace view perfpipe.per_second as
  select r.framework, r.test, r.repeat, s.second,
    coalesce(sum(s.samples) filter (where s.success), 0)::bigint as successes,
    coalesce(sum(s.samples) filter (where not s.success), 0)::bigint as failures,
    (sum(cell.elapsed_sum) filter (where s.success)
      / sum(s.samples) filter (where s.success))::float8 / (1000 / coalesce(r.resolution_us, 1000)) as elapsed_mean,
    s.run
  from perfpipe.runs r
  join perfpipe.seconds s using (run)
  cross join lateral (
    select sum(elapsed::bigint * count) as elapsed_sum from unnest(s.elapsed, s.counts) as pair (elapsed, count)
  ) as cell
  where not s.transaction
  group by r.framework, r.test, r.repeat, r.resolution_us, s.run, s.second;
