//! Reads the JSON of sysstat: `sadf -j`, and `mpstat -o JSON`, whose times have no day.

use std::borrow::Cow;

use jiff::civil::Date;
use serde::Deserialize;

use super::found::{Found, flaw, json, used};
use super::time::Times;
use crate::formats::date::TimeZone;
use crate::run::fault::Fault;
use crate::source::cpu_export::row::Reading;

#[derive(Deserialize)]
struct Text<'a> {
    #[serde(borrow)]
    sysstat: Hosts<'a>,
}

#[derive(Deserialize)]
struct Hosts<'a> {
    #[serde(borrow)]
    hosts: Vec<Host<'a>>,
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
    #[serde(borrow, default)]
    statistics: Vec<Statistics<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Statistics<'a> {
    #[serde(borrow)]
    timestamp: Option<Stamp<'a>>,
    #[serde(borrow, default)]
    cpu_load: Vec<Load<'a>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Stamp<'a> {
    /// The time alone, of mpstat.
    Time(#[serde(borrow)] Cow<'a, str>),
    Moment {
        #[serde(borrow)]
        date: Cow<'a, str>,
        #[serde(borrow)]
        time: Cow<'a, str>,
        #[serde(default)]
        utc: u8,
    },
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

pub(super) fn read(text: &[u8], zone: TimeZone) -> Result<Found, Fault> {
    let Text { sysstat: Hosts { hosts } } = json(text, "JSON of sadf or mpstat")?;
    let mut found = Found::default();
    let mut times = Times::new(zone);
    for host in &hosts {
        let series = (hosts.len() > 1).then(|| host.nodename.clone().into_owned());
        found.cores = host.number_of_cpus.filter(|_| hosts.len() == 1);
        read_host(host, &mut times, |clock, value| {
            found.readings.push(Reading { clock, ns: 0, value, series: series.clone() });
        })?;
    }
    if hosts.iter().all(|host| host.statistics.iter().all(|one| one.cpu_load.is_empty())) {
        return Err(flaw("has no use of the CPU (cpu-load); sadf writes it with -u: sadf -j FILE -- -u"));
    }
    found.date = times.form;
    Ok(found)
}

fn read_host(host: &Host<'_>, times: &mut Times, mut take: impl FnMut(i64, f64)) -> Result<(), Fault> {
    let mut days = Days::default();
    for Statistics { timestamp, cpu_load } in &host.statistics {
        let Some(load) = cpu_load.iter().find(|load| load.cpu == "all") else { continue };
        let clock = match timestamp {
            Some(Stamp::Moment { date, time, utc }) => times.second(date, time, *utc == 1)?,
            Some(Stamp::Time(time)) => times.second(&days.of(&host.date, time)?, time, false)?,
            None => continue,
        };
        take(clock, used([load.idle, load.iowait, load.steal]));
    }
    Ok(())
}

/// Finds the days of times that follow each other.
#[derive(Default)]
struct Days {
    day: Option<Date>,
    last: String,
}

impl Days {
    /// Returns the day of the next time. `first` is the day of the first one.
    fn of(&mut self, first: &str, time: &str) -> Result<String, Fault> {
        let day = match self.day {
            // Midnight has passed.
            Some(day) if *time < *self.last => day.tomorrow().unwrap_or(day),
            Some(day) => day,
            None => date(first)?,
        };
        (self.day, self.last) = (Some(day), time.to_owned());
        Ok(day.to_string())
    }
}

/// Reads `2026-11-22` or `11/22/26`.
fn date(text: &str) -> Result<Date, Fault> {
    let parsed = match text.split('/').collect::<Vec<_>>().as_slice() {
        [month, day, year] if year.len() == 2 => format!("20{year}-{month}-{day}").parse(),
        _ => text.parse(),
    };
    parsed.map_err(|_| {
        let remedy = "Let it write dates as in 2026-11-22: S_TIME_FORMAT=ISO mpstat -o JSON 1";
        Fault { remedy: remedy.to_owned(), ..flaw(format!("the date {text:?} is none that perfpipe reads")) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clocks(text: &str) -> Vec<i64> {
        read(text.as_bytes(), TimeZone::default())
            .unwrap()
            .readings
            .iter()
            .map(|reading| reading.clock)
            .collect()
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
        assert!(of("22.11.2026", load).remedy.contains("S_TIME_FORMAT=ISO"));
        assert!(of("22/11/26", load).remedy.contains("S_TIME_FORMAT=ISO"));
        assert!(of("11/22/26", "").problem.contains("-u"));
    }
}
