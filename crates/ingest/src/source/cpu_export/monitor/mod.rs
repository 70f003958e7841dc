//! What monitoring tools answer and print: recognised by its first bytes, read whole, since it is small.

mod found;
mod json;
pub(super) mod prometheus;
mod sadf;
mod sar;
mod sysstat;
mod time;
mod vmstat;
pub(super) mod zabbix;

use std::io;

pub(super) use self::found::{FoundReadings, MOST_READINGS, MOST_SERIES, Stamped, too_many};
use crate::source::SourceOptions;
use crate::source::opened::Opened;
use crate::source::unpack::checked::{Digest, Digested};
use perfpipe_model::error::ErrorKind;
use perfpipe_model::run::damage::Fault;
use perfpipe_model::run::options::CpuScale;

/// The maximum size of such a text, in bytes: some ten days of readings of each second.
const LARGEST: u64 = 64 << 20;

/// A monitoring tool, by the form of its output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Monitor {
    /// An answer of Zabbix's API to `history.get`.
    Zabbix,
    /// An answer of Prometheus to `query_range`.
    Prometheus,
    /// `sadf -j` or `mpstat -o JSON`.
    Sysstat,
    /// `sadf -d`.
    Sadf,
    /// `sar -u` or `mpstat`, as text.
    Sar,
    /// `vmstat -t`.
    Vmstat,
}

impl Monitor {
    /// Recognises a text that begins with `text`.
    pub(crate) fn of(text: &[u8]) -> Option<Self> {
        let has = |key: &str| memchr::memmem::find(text, key.as_bytes()).is_some();
        match text.first()? {
            b'#' if sadf::is(text) => Some(Self::Sadf),
            b'L' if sar::is(text) => Some(Self::Sar),
            b'p' if vmstat::is(text) => Some(Self::Vmstat),
            b'{' if has("\"sysstat\"") => Some(Self::Sysstat),
            b'{' if has("\"jsonrpc\"") => Some(Self::Zabbix),
            b'{' if has("\"status\"") && (has("\"resultType\"") || has("\"errorType\"")) => {
                Some(Self::Prometheus)
            }
            b'{' | b'[' if has("\"itemid\"") && has("\"clock\"") => Some(Self::Zabbix),
            _ => None,
        }
    }

    /// Returns a description of the form, as it appears in messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Zabbix => "an answer of Zabbix's API",
            Self::Prometheus => "an answer of Prometheus",
            Self::Sysstat => "JSON of sysstat",
            Self::Sadf => "output of sadf -d",
            Self::Sar => "output of sar or mpstat",
            Self::Vmstat => "output of vmstat -t",
        }
    }

    /// Returns true if it has the use of the CPU only, in percent of the machine.
    fn is_of_machine(self) -> bool {
        matches!(self, Self::Sysstat | Self::Sadf | Self::Sar | Self::Vmstat)
    }

    /// Reads a text.
    ///
    /// # Errors
    /// If it can't be read, or has none of the readings that are asked for.
    pub(super) fn read(self, text: &[u8], options: &SourceOptions) -> Result<FoundReadings, Fault> {
        if self.is_of_machine() && options.series.is_some() {
            let problem = format!("is {}, of which perfpipe reads the CPU only", self.name());
            let remedy = "Give the series as a file with the columns clock and value.";
            return Err(Fault::new(ErrorKind::SeriesFile, problem, remedy));
        }
        let zone = options.time_zone.clone();
        match self {
            Self::Zabbix => {
                let mut found = FoundReadings::default();
                zabbix::read(text, &mut found).map(|()| found)
            }
            Self::Prometheus => prometheus::read(text),
            Self::Sysstat => sysstat::read(text, zone),
            Self::Sadf => sadf::read(text, zone),
            Self::Sar => sar::read(text, zone),
            Self::Vmstat => vmstat::read(text, zone),
        }
    }

    /// Returns the scale of readings in this form, if it is known. `reported` are the machine's cores by the text.
    ///
    /// # Errors
    /// If the readings are in percent of a machine of which the number of cores is unknown.
    pub(super) fn scale(
        self,
        reported: Option<u32>,
        options: &SourceOptions,
    ) -> Result<Option<CpuScale>, Fault> {
        if options.cpu_scale.is_some() || !self.is_of_machine() {
            return Ok(options.cpu_scale);
        }
        of_machine(reported, options).map(Some)
    }
}

/// Returns the scale of readings in percent of a machine. `reported` are its cores by the text.
///
/// # Errors
/// If the number of cores is unknown.
pub(super) fn of_machine(reported: Option<u32>, options: &SourceOptions) -> Result<CpuScale, Fault> {
    match options.cores.or(reported) {
        Some(cores) => Ok(CpuScale::PercentOfMachine { cores }),
        None => Err(Fault::new(
            ErrorKind::CpuCores,
            "its readings are in percent of the whole machine, and the number of cores is not in it",
            "Give the number of cores (SourceOptions::cores).",
        )),
    }
}

/// A text that was read to its end.
pub(super) struct WholeText {
    pub(super) text: Vec<u8>,
    pub(super) digest: Digest,
    /// The damage that ended it early, if any.
    pub(super) cut: Option<Fault>,
}

impl WholeText {
    /// Reads a text to its end. `cut` is the damage that is known to end it early.
    ///
    /// # Errors
    /// If it can't be read, or is too large.
    pub(super) fn read(opened: &mut Opened, cut: Option<Fault>) -> io::Result<Self> {
        let reader: &mut dyn Digested = opened.reader();
        let mut text = Vec::new();
        let mut buffer = vec![0; 64 << 10];
        loop {
            let read = match reader.read(&mut buffer) {
                Err(_) if cut.is_some() => 0,
                read => read?,
            };
            if read == 0 {
                break;
            }
            text.extend_from_slice(buffer.get(..read).unwrap_or_default());
            if text.len() as u64 > LARGEST {
                let remedy = "Export only the time of the run, and only the item of the CPU.";
                let problem = "it is larger than 64 MiB";
                return Err(Fault::new(ErrorKind::CpuTooLarge, problem, remedy).into());
            }
        }
        let cut = cut.or_else(|| reader.cut().cloned());
        if cut.is_some() {
            let whole_lines = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            text.truncate(whole_lines);
        }
        Ok(Self { text, digest: reader.digest().clone(), cut })
    }

    /// Returns the text without a byte-order mark.
    pub(super) fn body(&self) -> &[u8] {
        crate::source::head::text(&self.text)
    }
}

// Releases don't count the work of parsers.
#[cfg(debug_assertions)]
#[cfg(test)]
mod tests {
    use super::*;
    use perfpipe_formats::worst_shapes::{behind, check, numbered, repeated};

    /// Reads a text as whatever it is recognised as.
    fn read(text: &[u8]) {
        let begin = text.get(..1 << 14).unwrap_or(text);
        let _ = Monitor::of(begin).unwrap().read(text, &SourceOptions::default());
    }

    /// A list of items that are made from their numbers, between two texts.
    fn list(begin: &str, item: impl Fn(u64) -> String, end: &str) -> impl Fn(usize) -> Vec<u8> {
        let items = move |size| numbered(size, |n| format!("{}{}", if n > 0 { "," } else { "" }, item(n)));
        move |size| [begin.as_bytes(), &items(size), end.as_bytes()].concat()
    }

    #[test]
    fn readings_of_every_monitor_take_linear_time() {
        let reading = |item: u64, clock: u64| {
            format!("{{\"itemid\":\"{item}\",\"clock\":\"{clock}\",\"ns\":\"0\",\"value\":\"1\"}}")
        };
        let answer = "{\"jsonrpc\":\"2.0\",\"result\":[";
        check("readings of one item", list("[", |n| reading(1, n), "]"), read);
        check("items that all differ", list("[", |n| reading(n % 900, n), "]"), read);
        check("an answer of items", list(answer, |n| reading(n % 900, n), "]}"), read);
        let prometheus = "{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[";
        let values = format!("{prometheus}{{\"metric\":{{}},\"values\":[");
        check("values of a series", list(&values, |n| format!("[{n},\"1\"]"), "]}]}}"), read);
        let series = |n| format!("{{\"metric\":{{\"a\":\"{}\"}},\"values\":[[{n},\"1\"]]}}", n % 900);
        check("series of one value", list(prometheus, series, "]}}"), read);
        let labels = format!("{prometheus}{{\"metric\":{{");
        let end = "},\"values\":[[1,\"1\"]]}]}}";
        check("labels of a series", list(&labels, |n| format!("\"l{n}\":\"{n}\""), end), read);
        let hosts = "{\"sysstat\":{\"hosts\":[{\"nodename\":\"a\",\"number-of-cpus\":4,\"statistics\":[";
        let at = |n: u64| {
            let (minute, second) = (n / 60 % 60, n % 60);
            format!(
                "\"timestamp\":{{\"date\":\"2026-11-20\",\"time\":\"19:{minute:02}:{second:02}\",\"utc\":1}}"
            )
        };
        let load = |cpu: &str| format!("{{\"cpu\":\"{cpu}\",\"idle\":50}}");
        let moment = |n| format!("{{{},\"cpu-load\":[{}]}}", at(n), load("all"));
        check("moments of a host", list(hosts, moment, "]}]}}"), read);
        let cores = format!("{hosts}{{{},\"cpu-load\":[", at(0));
        check("cores of a moment", list(&cores, |n| load(&n.to_string()), "]}]}]}}"), read);
        let sadf = "# hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle\n";
        let line = |n| format!("a;1;2026-11-20 19:42:18 UTC;{n};0;0;0;0;0;9\n");
        check("cores of sadf", behind(sadf, |size| numbered(size, line)), read);
        check("headings of sadf", |size| repeated(sadf, size), read);
        check("fields of sadf", behind(sadf, |size| repeated(";", size)), read);
        let sar = "Linux 6 (a) \t2026-11-20 \t_x86_64_\t(4 CPU)\n\n19:42:14 CPU %user %iowait %steal %idle\n";
        let line = |n: u64| format!("19:{:02}:{:02} all 1 0 0 {}\n", n / 60 % 60, n % 60, n % 100);
        check("lines of sar", behind(sar, |size| numbered(size, line)), read);
        check("headings of sar", |size| repeated(sar, size), read);
        check("fields of sar", behind(sar, |size| repeated("1 ", size)), read);
        let line = |n| format!("{{\"itemid\":{},\"clock\":{n},\"ns\":0,\"value\":1}}\n", n % 900);
        check("lines of Zabbix", |size| numbered(size, line), read);
        let vmstat = "procs -----------memory---------- ---swap--\n r  b  us sy id wa st   UTC\n";
        check("headings of vmstat", |size| repeated(vmstat, size), read);
        check("fields of vmstat", behind(vmstat, |size| repeated("1 ", size)), read);
    }

    #[test]
    fn lists_and_texts_of_monitors_may_never_end() {
        for begin in [
            "[{\"itemid\":\"1\",\"clock\":\"1\",\"value\":\"",
            "{\"jsonrpc\":\"2.0\",\"result\":",
            "{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":",
            "{\"sysstat\":{\"hosts\":",
        ] {
            for shape in ["[", "{\"a\":", "[[],", "\\", "x", "\\\"", "1", "[1,", " "] {
                check(&format!("{begin} and {shape}"), behind(begin, |size| repeated(shape, size)), read);
            }
        }
    }

    #[test]
    fn each_form_is_known_by_its_first_bytes() {
        for (text, monitor) in [
            (r#"{"jsonrpc":"2.0","result":[]}"#, Some(Monitor::Zabbix)),
            (r#"[{"itemid":"1","clock":"1795354444","value":"4"}]"#, Some(Monitor::Zabbix)),
            (r#"{"status":"success","data":{"resultType":"matrix"}}"#, Some(Monitor::Prometheus)),
            (r#"{"sysstat": {"hosts": []}}"#, Some(Monitor::Sysstat)),
            ("# hostname;interval;timestamp;CPU;%user;%idle\n", Some(Monitor::Sadf)),
            ("Linux 6.1.0 (sut) \t11/20/2026 \t_x86_64_\t(4 CPU)\n", Some(Monitor::Sar)),
            (
                r#"{"host":{"name":"sut"},"itemid":44518,"clock":1795203735,"value":40.1}"#,
                Some(Monitor::Zabbix),
            ),
            ("procs -----------memory----------\n r  b  us sy id wa st   UTC\n", Some(Monitor::Vmstat)),
            (r#"{"status":200}"#, None),
            ("clock,value\n", None),
            ("", None),
        ] {
            assert_eq!(Monitor::of(text.as_bytes()), monitor, "{text}");
        }
    }
}
