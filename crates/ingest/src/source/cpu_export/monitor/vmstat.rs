//! Reads the output of `vmstat -t`: columns below lines that name them, a date with a time last.

use super::found::{FoundReadings, Stamped, flaw, shown, used};
use super::time::{LineDates, lines};
use perfpipe_model::run::damage::Fault;
use perfpipe_model::run::time_zone::TimeZone;

/// Returns true if a text begins as this output does.
pub(super) fn is(text: &[u8]) -> bool {
    text.starts_with(b"procs -") && memchr::memmem::find(text, b" us sy id ").is_some()
}

/// The columns of the lines that follow.
struct VmstatColumns {
    /// Idle, waiting for disks, stolen.
    idle: [Option<usize>; 3],
    /// The column of the date, which is that of the zone's name. `None` without -t.
    date: Option<usize>,
    utc: bool,
}

impl VmstatColumns {
    fn of(names: &[&str]) -> Self {
        let column = |wanted: &str| names.iter().position(|name| *name == wanted);
        // All names but those of zones are written in lower case.
        let zone = |name: &&&str| name.starts_with(|letter: char| !letter.is_ascii_lowercase());
        let zone = names.last().filter(zone).copied();
        Self {
            idle: [column("id"), column("wa"), column("st")],
            date: zone.map(|_| names.len().saturating_sub(1)),
            utc: matches!(zone, Some("UTC" | "GMT")),
        }
    }
}

pub(super) fn read(text: &[u8], zone: TimeZone) -> Result<FoundReadings, Fault> {
    let mut found = FoundReadings::default();
    let (mut times, mut columns) = (LineDates::new(zone), None);
    // The first line is the mean since the machine was started.
    let mut since_start = true;
    for line in lines(text) {
        let (number, line) = line?;
        let fields: Vec<&str> = line.split_whitespace().collect();
        match (fields.first(), &columns) {
            (None | Some(&"procs"), _) => {}
            (Some(&"r"), _) => columns = Some(VmstatColumns::of(&fields)),
            (Some(_), Some(_)) if std::mem::take(&mut since_start) => {}
            (Some(_), Some(columns)) => {
                let reading = reading(&fields, columns, &mut times);
                found.only(reading.map_err(|fault| fault.at_line(number, 0))?)?;
            }
            (Some(_), None) => return Err(flaw("no line names the columns").at_line(number, 0)),
        }
    }
    found.date = times.form;
    Ok(found)
}

fn reading(fields: &[&str], columns: &VmstatColumns, times: &mut LineDates) -> Result<Stamped, Fault> {
    let Some(date) = columns.date else {
        let remedy = "Let it print the time: vmstat -t 1";
        return Err(Fault { remedy: remedy.to_owned(), ..flaw("the lines have no time") });
    };
    let (Some(day), Some(time)) = (fields.get(date), fields.get(date + 1)) else {
        return Err(flaw("the line ends before its time"));
    };
    let clock = times.second(day, time, columns.utc)?;
    let mut idle = [0.0; 3];
    for (part, column) in idle.iter_mut().zip(columns.idle) {
        let Some(column) = column else { continue };
        let text = fields.get(column).copied().unwrap_or_default();
        *part =
            f64::from(text.parse::<u32>().map_err(|_| flaw(format!("{:?} is not a number", shown(text))))?);
    }
    Ok((clock, 0, used(idle)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----\n \
        r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 UTC\n";

    #[test]
    fn first_line_is_left_out_and_repeated_names_are_skipped() {
        let row = |idle: u32, second: u32| {
            format!(
                " 5  0  0 10440768  20588 10908456 0 0 1164 3854 523 1458 63 9 {idle} 1 2 2026-11-25 12:17:{second}\n"
            )
        };
        let text = format!("{HEAD}{}{}{HEAD}{}", row(10, 17), row(28, 18), row(30, 19));
        let found = read(text.as_bytes(), TimeZone::default()).unwrap();
        let readings = vec![(1_795_609_038, 0, 69.0), (1_795_609_039, 0, 67.0)];
        assert_eq!(found.into_series().collect::<Vec<_>>(), [(None, readings)]);
    }

    #[test]
    fn lines_without_a_time_are_refused() {
        let text = "procs ---memory--- ---cpu---\n r  b us sy id wa st\n 1 0 1 2 97 0 0\n 1 0 1 2 97 0 0\n";
        assert!(read(text.as_bytes(), TimeZone::default()).unwrap_err().remedy.contains("vmstat -t"));
    }
}
