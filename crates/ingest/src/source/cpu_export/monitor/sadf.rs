//! Reads the output of `sadf -d`: lines of fields after lines that name them.

use std::collections::BTreeSet;

use super::found::{FoundReadings, Stamped, flaw, shown, used};
use super::time::{LineDates, lines};
use perfpipe_model::run::damage::Fault;
use perfpipe_model::run::time_zone::TimeZone;

/// The maximum number of cores.
const MOST_CORES: usize = 65_536;

/// The fields that each line begins with.
const BEGIN: &[u8] = b"# hostname;interval;timestamp;";

/// Returns true if a text begins as this output does.
pub(super) fn is(text: &[u8]) -> bool {
    text.starts_with(BEGIN)
}

/// The columns of the lines that follow.
struct SadfColumns {
    cpu: usize,
    /// Idle, waiting for disks, stolen.
    idle: [Option<usize>; 3],
}

impl SadfColumns {
    /// The columns of a line that names them, if these are those of the CPU.
    fn of(names: &str) -> Option<Self> {
        let column = |name: &str| names.split(';').position(|column| column == name);
        let idle = [column("%idle"), column("%iowait"), column("%steal")];
        idle[0].is_some().then_some(Self { cpu: column("CPU")?, idle })
    }
}

pub(super) fn read(text: &[u8], zone: TimeZone) -> Result<FoundReadings, Fault> {
    let mut found = FoundReadings::default();
    let (mut times, mut columns, mut seen) = (LineDates::new(zone), None, false);
    let mut cpus = BTreeSet::new();
    for line in lines(text) {
        let (number, line) = line?;
        if let Some(names) = line.strip_prefix("# ") {
            columns = SadfColumns::of(names);
            seen |= columns.is_some();
            continue;
        }
        let fields: Vec<&str> = line.split(';').collect();
        let Some(columns) = columns.as_ref().filter(|_| !line.is_empty() && !line.contains("LINUX-RESTART"))
        else {
            continue;
        };
        match fields.get(columns.cpu) {
            Some(&("-1" | "all")) => {
                let reading = reading(&fields, columns, &mut times);
                found.only(reading.map_err(|fault| fault.at_line(number, 0))?)?;
            }
            Some(cpu) if cpus.len() < MOST_CORES => {
                if !cpus.contains(*cpu) {
                    cpus.insert((*cpu).to_owned());
                }
            }
            Some(_) => return Err(flaw("there are more than 65,536 cores").at_line(number, 0)),
            None => return Err(flaw("the line ends before the column CPU").at_line(number, 0)),
        }
    }
    if !seen {
        return Err(flaw("has no use of the CPU; sadf writes it with -u: sadf -d FILE -- -u"));
    }
    found.cores = u32::try_from(cpus.len()).ok().filter(|cores| *cores > 0);
    found.date = times.form;
    Ok(found)
}

fn reading(fields: &[&str], columns: &SadfColumns, times: &mut LineDates) -> Result<Stamped, Fault> {
    let stamp = fields.get(2).copied().unwrap_or_default();
    let clock = match (stamp.parse(), stamp.split(' ').collect::<Vec<_>>().as_slice()) {
        (Ok(clock), _) => clock,
        (_, [day, time]) => times.second(day, time, false)?,
        (_, [day, time, "UTC"]) => times.second(day, time, true)?,
        _ => return Err(flaw(format!("the time {:?} is none that perfpipe reads", shown(stamp)))),
    };
    let mut idle = [0.0; 3];
    for (part, column) in idle.iter_mut().zip(columns.idle) {
        let Some(column) = column else { continue };
        let text = fields.get(column).copied().unwrap_or_default();
        // In some languages sadf writes a comma.
        let value = text.replace(',', ".").parse::<f64>().ok().filter(|value| value.is_finite());
        *part = value.ok_or_else(|| flaw(format!("{:?} is not a number", shown(text))))?;
    }
    Ok((clock, 0, used(idle)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_of_all_cpus_are_readings_and_the_others_tell_the_cores() {
        let text = "# hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle\n\
            vm;1;2026-11-22 13:36:42 UTC;-1;0.00;0.00;0.50;0.00;0.00;99.50\n\
            vm;1;2026-11-22 13:36:42 UTC;0;0.00;0.00;1.00;0.00;0.00;99.00\n\
            vm;1;2026-11-22 13:36:42 UTC;1;0.00;0.00;0.00;0.00;0.00;100.00\n\
            vm;-1;2026-11-22 13:36:43 UTC;LINUX-RESTART\t(2 CPU)\n\
            # hostname;interval;timestamp;kbmemfree;kbavail\n\
            vm;1;2026-11-22 13:36:42 UTC;1000;2000\n";
        let found = read(text.as_bytes(), TimeZone::default()).unwrap();
        assert_eq!(found.cores, Some(2));
        assert_eq!(found.into_series().collect::<Vec<_>>(), [(None, vec![(1_795_354_602, 0, 0.5)])]);
    }

    #[test]
    fn lines_that_cannot_be_read_are_told() {
        let head = "# hostname;interval;timestamp;CPU;%user;%idle\n";
        for row in [
            "vm;1;yesterday;-1;0.0;99.5",
            "vm;1;2026-11-22 13:36:42 CET;-1;0.0;99.5",
            "vm;1;1795354602;-1;0.0;x",
            "vm;1",
        ] {
            let fault = read(format!("{head}{row}\n").as_bytes(), TimeZone::default()).unwrap_err();
            assert_eq!(fault.line, Some((2, 0)), "{row}");
        }
        let memory = "# hostname;interval;timestamp;kbmemfree\nvm;1;1795354602;5\n";
        assert!(read(memory.as_bytes(), TimeZone::default()).unwrap_err().problem.contains("-u"));
    }
}
