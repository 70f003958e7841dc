//! Reads the JSON of sysstat: `sadf -j`, and `mpstat -o JSON`, whose times have no day.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::found::{FoundReadings, MOST_SERIES, Stamped, flaw, too_many, used};
use super::json::{each, part, whole};
use super::time::{Days, LineDates};
use perfpipe_model::run::damage::Fault;
use perfpipe_model::run::time_zone::TimeZone;

/// What a text has to be.
const WHAT: &str = "JSON of sadf or mpstat";

#[derive(Deserialize)]
struct Text<'a> {
    #[serde(borrow)]
    sysstat: Hosts<'a>,
}

#[derive(Deserialize)]
struct Hosts<'a> {
    #[serde(borrow)]
    hosts: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Host<'a> {
    #[serde(borrow, default)]
    nodename: Cow<'a, str>,
    number_of_cpus: Option<u32>,
    /// The first day, of mpstat.
    #[serde(borrow, default)]
    date: Cow<'a, str>,
    #[serde(borrow)]
    statistics: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Statistics<'a> {
    /// A [`Moment`], or the time alone, of mpstat.
    #[serde(borrow)]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow)]
    cpu_load: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Moment<'a> {
    #[serde(borrow)]
    date: Cow<'a, str>,
    #[serde(borrow)]
    time: Cow<'a, str>,
    #[serde(default)]
    utc: u8,
}

#[derive(Deserialize)]
struct Load<'a> {
    #[serde(borrow)]
    cpu: Cow<'a, str>,
    idle: f64,
    #[serde(default)]
    iowait: f64,
    #[serde(default)]
    steal: f64,
}

pub(super) fn read(text: &[u8], zone: TimeZone) -> Result<FoundReadings, Fault> {
    let Text { sysstat: Hosts { hosts } } = whole(text, WHAT)?;
    let (mut count, mut cores) = (0, None);
    each(hosts, WHAT, |host: Host<'_>| {
        (count, cores) = (count + 1, host.number_of_cpus);
        if count > MOST_SERIES { Err(too_many("more than 1,000 hosts")) } else { Ok(()) }
    })?;
    let mut found = FoundReadings::default();
    found.cores = cores.filter(|_| count == 1);
    let (mut times, mut has_load) = (LineDates::new(zone), false);
    each(hosts, WHAT, |host: Host<'_>| {
        let place = found.series(if count > 1 { &host.nodename } else { "" })?;
        has_load |= read_host(&host, &mut times, |reading| found.add(place, reading))?;
        Ok(())
    })?;
    if !has_load {
        return Err(flaw("has no use of the CPU (cpu-load); sadf writes it with -u: sadf -j FILE -- -u"));
    }
    found.date = times.form;
    Ok(found)
}

/// Passes on the readings of a host. Returns true if it has the use of any CPU.
fn read_host(
    host: &Host<'_>,
    times: &mut LineDates,
    mut take: impl FnMut(Stamped) -> Result<(), Fault>,
) -> Result<bool, Fault> {
    let (mut days, mut has_load) = (Days::default(), false);
    let Some(statistics) = host.statistics else { return Ok(has_load) };
    each(statistics, WHAT, |Statistics { timestamp, cpu_load }| {
        let mut all = None;
        let load = |load: Load<'_>| {
            has_load = true;
            if load.cpu == "all" && all.is_none() {
                all = Some(used([load.idle, load.iowait, load.steal]));
            }
            Ok(())
        };
        cpu_load.map_or(Ok(()), |list| each(list, WHAT, load))?;
        let (Some(value), Some(stamp)) = (all, timestamp) else { return Ok(()) };
        let clock = if stamp.get().starts_with('"') {
            let time: Cow<'_, str> = part(stamp, WHAT)?;
            times.second(&days.of(&host.date, &time)?, &time, false)?
        } else {
            let Moment { date, time, utc } = part(stamp, WHAT)?;
            times.second(&date, &time, utc == 1)?
        };
        take((clock, 0, value))
    })?;
    Ok(has_load)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clocks(text: &str) -> Vec<i64> {
        let found = read(text.as_bytes(), TimeZone::default()).unwrap();
        found.into_series().flat_map(|(_, readings)| readings).map(|(clock, _, _)| clock).collect()
    }

    #[test]
    fn times_of_mpstat_pass_midnight() {
        let statistics: Vec<String> = ["23:59:59", "00:00:00", "00:00:01"]
            .map(|time| {
                format!(r#"{{"timestamp":"{time}","cpu-load":[{{"cpu":"all","usr":1.0,"idle":99.0}}]}}"#)
            })
            .to_vec();
        for date in ["11/22/26", "2026-11-22"] {
            let text = format!(
                r#"{{"sysstat":{{"hosts":[{{"nodename":"vm","number-of-cpus":2,"date":"{date}","statistics":[{}]}}]}}}}"#,
                statistics.join(",")
            );
            assert_eq!(clocks(&text), [1_795_391_999, 1_795_392_000, 1_795_392_001]);
        }
    }

    #[test]
    fn other_dates_and_files_without_cpu_are_refused() {
        let of = |date: &str, load: &str| {
            let text = format!(
                r#"{{"sysstat":{{"hosts":[{{"date":"{date}","statistics":[{{"timestamp":"12:00:00"{load}}}]}}]}}}}"#
            );
            read(text.as_bytes(), TimeZone::default()).unwrap_err()
        };
        let load = r#","cpu-load":[{"cpu":"all","idle":99.0}]"#;
        assert!(of("22nd", load).remedy.contains("S_TIME_FORMAT=ISO"));
        assert!(of("22/22/26", load).remedy.contains("S_TIME_FORMAT=ISO"));
        assert!(of("11/22/26", "").problem.contains("-u"));
    }
}
