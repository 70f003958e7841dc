-- Two views for Grafana, with the time of the test: the seconds of all runs, and their CPU readings. They need a database
-- of layout 4 (perfpipe migrate), and a role that may read the schema perfpipe. A filter by run is applied first.

create or replace view perfpipe_seconds as
  with counts as (
    select run, second, elapsed_ms as elapsed, sum(count) as count
    from perfpipe.elapsed_counts
    where success and not transaction
    group by run, second, elapsed_ms
  ),
  ranked as (
    select run, second, elapsed,
      sum(count) over (partition by run, second order by elapsed) as upto,
      sum(count) over (partition by run, second) as n
    from counts
  ),
  -- As percentile_cont: between the two requests next to the rank.
  percentiles as (
    select run, second, share,
      min(elapsed) filter (where upto > floor(share * (n - 1))) as low,
      min(elapsed) filter (where upto > ceil(share * (n - 1))) as high,
      max(share * (n - 1) - floor(share * (n - 1))) as part
    from ranked cross join (values (0.5), (0.95), (0.99)) as asked (share)
    group by run, second, share
  ),
  times as (
    select run, second,
      max((low + part * (high - low))::float8) filter (where share = 0.5) as p50,
      max((low + part * (high - low))::float8) filter (where share = 0.95) as p95,
      max((low + part * (high - low))::float8) filter (where share = 0.99) as p99
    from percentiles
    group by run, second
  )
  select to_timestamp(r.t0_ms / 1000.0) + every.second * interval '1 second' as time,
    r.run, r.framework, r.test, r.repeat, every.second,
    coalesce(s.successes, 0) as successes, coalesce(s.failures, 0) as failures,
    s.elapsed_mean, times.p50, times.p95, times.p99
  from perfpipe.runs r
  cross join lateral generate_series(0, r.seconds - 1) as every (second)
  left join perfpipe.per_second s on s.run = r.run and s.second = every.second
  left join times on times.run = r.run and times.second = every.second;

create or replace view perfpipe_cpu as
  select to_timestamp(c.clock + r.cpu_offset) as time, r.run, r.framework, r.test, r.repeat, c.value as cpu
  from perfpipe.runs r
  join perfpipe.cpu c using (run);
