//! Reads what `sar -u` and `mpstat` print: a line on the machine, then tables whose first lines name the columns, with times
//! that have no day.

use super::found::{FoundReadings, Stamped, flaw, shown, used};
use super::time::{Days, LineDates, lines};
use perfpipe_model::run::damage::Fault;
use perfpipe_model::run::time_zone::TimeZone;

/// Returns true if a text begins as this output does.
pub(super) fn is(text: &[u8]) -> bool {
    let begin = text.get(..1 << 10).unwrap_or(text);
    text.starts_with(b"Linux ") && memchr::memmem::find(begin, b" CPU)").is_some()
}

/// The columns of the lines that follow.
struct SarColumns {
    cpu: usize,
    /// Idle, waiting for disks, stolen.
    idle: [Option<usize>; 3],
}

impl SarColumns {
    /// The columns of a line that names them, if these are those of the CPU.
    fn of(names: &[&str]) -> Option<Self> {
        let column = |name: &str| names.iter().position(|column| *column == name);
        let idle = [column("%idle"), column("%iowait"), column("%steal")];
        idle[0].is_some().then_some(Self { cpu: column("CPU")?, idle })
    }
}

pub(super) fn read(text: &[u8], zone: TimeZone) -> Result<FoundReadings, Fault> {
    let mut found = FoundReadings::default();
    let (mut times, mut days) = (LineDates::new(zone), Days::default());
    let (mut columns, mut first_day, mut seen) = (None, String::new(), false);
    for line in lines(text) {
        let (number, line) = line?;
        if let Some(machine) = line.strip_prefix("Linux ") {
            first_day = day(machine).to_owned();
            found.cores = cores(machine);
            days = Days::default();
            continue;
        }
        let fields: Vec<&str> = line.split_whitespace().collect();
        let Some((time, fields)) = time_of(&fields) else {
            // A blank line ends a table.
            columns = None;
            continue;
        };
        if let Some(named) = SarColumns::of(fields) {
            (columns, seen) = (Some(named), true);
            continue;
        }
        // Other tables name other columns.
        if fields.iter().any(|field| field.starts_with('%')) {
            columns = None;
        }
        let Some(columns) = columns.as_ref() else { continue };
        if fields.get(columns.cpu) == Some(&"all") {
            let mut reading = || -> Result<Stamped, Fault> {
                let clock = times.second(&days.of(&first_day, &time)?, &time, false)?;
                Ok((clock, 0, use_of(fields, columns)?))
            };
            let reading = reading().map_err(|fault| fault.at_line(number, 0))?;
            found.only(reading)?;
        }
    }
    if !seen {
        return Err(flaw("has no use of the CPU; sar prints it with -u"));
    }
    found.date = times.form;
    Ok(found)
}

/// Returns the time with which a line begins, by 24 hours, and the other fields.
fn time_of<'f, 't>(fields: &'f [&'t str]) -> Option<(String, &'f [&'t str])> {
    let (first, rest) = fields.split_first()?;
    let is_time = first.len() == 8 && first.bytes().all(|byte| byte.is_ascii_digit() || byte == b':');
    let (hour, minutes) = first.split_once(':').filter(|_| is_time)?;
    let half = match rest.first() {
        Some(&"AM") => Some(0),
        Some(&"PM") => Some(12),
        _ => None,
    };
    let Some(half) = half else { return Some(((*first).to_owned(), rest)) };
    let hour: u32 = hour.parse().ok()?;
    Some((format!("{:02}:{minutes}", hour % 12 + half), rest.get(1..)?))
}

/// The day in the line on the machine: after its name in parentheses.
fn day(machine: &str) -> &str {
    machine.split_once(')').and_then(|(_, behind)| behind.split_whitespace().next()).unwrap_or_default()
}

/// The number of cores in the line on the machine: `(4 CPU)`.
fn cores(machine: &str) -> Option<u32> {
    let before = machine.split(" CPU)").next()?;
    before.rsplit('(').next()?.trim().parse().ok().filter(|cores| *cores > 0)
}

fn use_of(fields: &[&str], columns: &SarColumns) -> Result<f64, Fault> {
    let mut idle = [0.0; 3];
    for (part, column) in idle.iter_mut().zip(columns.idle) {
        let Some(column) = column else { continue };
        let text = fields.get(column).copied().unwrap_or_default();
        let value = text.replace(',', ".").parse::<f64>().ok().filter(|value| value.is_finite());
        *part = value.ok_or_else(|| flaw(format!("{:?} is not a number", shown(text))))?;
    }
    Ok(used(idle))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readings(text: &str) -> Vec<Stamped> {
        let found = read(text.as_bytes(), TimeZone::default()).unwrap();
        found.into_series().flat_map(|(_, readings)| readings).collect()
    }

    #[test]
    fn lines_of_all_cpus_are_readings_whatever_the_day_is_written_like() {
        for day in ["11/20/2026", "2026-11-20", "20/11/2026", "20.11.2026", "11/20/26"] {
            let text = format!(
                "Linux 6.1.0 (sut) \t{day} \t_x86_64_\t(4 CPU)\n\n\
                 23:59:58        CPU     %user     %nice   %system   %iowait    %steal     %idle\n\
                 23:59:59        all     35,18      0,00      5,00      0,00      0,00     59,82\n\
                 23:59:59          0     35,18      0,00      5,00      0,00      0,00      9,82\n\
                 00:00:00        all      1.00      0.00      0.00      2.00      1.00     96.00\n\n\
                 00:00:00    kbmemfree   kbavail %memused\n\
                 00:00:00       all  1 2\n\
                 Average:        all     35,18      0,00      5,00      0,00      0,00     59,82\n"
            );
            let midnight = 1_795_219_200;
            assert_eq!(readings(&text), [(midnight - 1, 0, 40.18), (midnight, 0, 1.0)], "{day}");
            assert_eq!(read(text.as_bytes(), TimeZone::default()).unwrap().cores, Some(4));
        }
    }

    #[test]
    fn hours_may_be_counted_twice_a_day() {
        let text = "Linux 6.1.0 (sut) \t11/20/2026 \t_x86_64_\t(2 CPU)\n\n\
                    11:59:59 AM  CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle\n\
                    12:00:00 PM  all    0.00    0.00    0.00    0.00    0.00    0.00    0.00    0.00    0.00   90.00\n\
                    01:00:00 PM  all    0.00    0.00    0.00    0.00    0.00    0.00    0.00    0.00    0.00   80.00\n";
        assert_eq!(readings(text), [(1_795_176_000, 0, 10.0), (1_795_179_600, 0, 20.0)]);
        let memory = "Linux 6.1.0 (sut) \t11/20/2026 \t_x86_64_\t(2 CPU)\n\n12:00:00 kbmemfree\n12:00:01 5\n";
        assert!(read(memory.as_bytes(), TimeZone::default()).unwrap_err().problem.contains("-u"));
    }
}
