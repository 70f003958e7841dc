//! Reads what Zabbix's API answers to `history.get`, whole or its result alone.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::found::{FoundReadings, Stamped, flaw, shown};
use super::json::{each, whole};
use super::time::lines;
use perfpipe_model::error::ErrorKind;
use perfpipe_model::run::damage::Fault;

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<Failure<'a>>,
}

#[derive(Deserialize)]
struct Failure<'a> {
    #[serde(borrow, default)]
    message: Cow<'a, str>,
    #[serde(borrow, default)]
    data: Cow<'a, str>,
}

/// A reading. Its fields are texts in answers, and numbers in the files of the real-time export.
#[derive(Deserialize)]
struct Entry<'a> {
    #[serde(borrow)]
    itemid: Option<&'a RawValue>,
    #[serde(borrow)]
    clock: &'a RawValue,
    #[serde(borrow)]
    value: Option<&'a RawValue>,
    #[serde(borrow)]
    ns: Option<&'a RawValue>,
    /// The mean of an hour, if this is no reading.
    #[serde(borrow)]
    value_avg: Option<&'a RawValue>,
    /// The same, in the files of the real-time export.
    #[serde(borrow)]
    avg: Option<&'a RawValue>,
}

/// The text of a field, or the number as it is written.
fn bare(field: Option<&RawValue>) -> &str {
    field.map_or("", |field| field.get().trim_matches('"'))
}

/// Adds the readings of an answer, or of its result alone, to what was found before; or those of the real-time export, one in a
/// line.
pub(in crate::source::cpu_export) fn read(text: &[u8], found: &mut FoundReadings) -> Result<(), Fault> {
    let what = "an answer of Zabbix to history.get";
    let first_line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let is_export = text.starts_with(b"{") && memchr::memmem::find(first_line, b"\"clock\"").is_some();
    let entries: &RawValue = match text.first() {
        Some(b'{') if is_export && memchr::memmem::find(first_line, b"\"jsonrpc\"").is_none() => {
            for line in lines(text) {
                let (number, line) = line?;
                if !line.trim().is_empty() {
                    let entry = whole(line.as_bytes(), "a line of Zabbix's real-time export");
                    let added = entry.and_then(|entry: Entry<'_>| add(&entry, found));
                    added.map_err(|fault| fault.at_line(number, 0))?;
                }
            }
            return Ok(());
        }
        Some(b'[') => whole(text, what)?,
        _ => match whole::<Answer<'_>>(text, what)? {
            Answer { error: Some(Failure { message, data }), .. } => {
                return Err(flaw(format!("is an error of Zabbix: {message} {data}")));
            }
            Answer { result: Some(entries), .. } => entries,
            Answer { result: None, .. } => return Ok(()),
        },
    };
    each(entries, what, |entry: Entry<'_>| add(&entry, found))
}

fn add(entry: &Entry<'_>, found: &mut FoundReadings) -> Result<(), Fault> {
    let reading = reading(entry)?;
    let series = found.series(bare(entry.itemid))?;
    found.add(series, reading)
}

fn reading(entry: &Entry<'_>) -> Result<Stamped, Fault> {
    if entry.value_avg.or(entry.avg).is_some() {
        let remedy = "Export the item's history (history.get), as long as Zabbix keeps it.";
        return Err(Fault::new(
            ErrorKind::CpuReading,
            "contains trends, the means of hours, not readings",
            remedy,
        ));
    }
    let (text, clock) = (bare(entry.value), bare(Some(entry.clock)));
    let value = text.trim().parse::<f64>().ok().filter(|value| value.is_finite());
    let value = value
        .ok_or_else(|| flaw(format!("the value {:?} at {} is not a number", shown(text), shown(clock))))?;
    let clock = clock.parse().map_err(|_| flaw(format!("{:?} is not an epoch second", shown(clock))))?;
    let ns = bare(entry.ns).parse().ok().filter(|ns| *ns < 1_000_000_000);
    let ns = ns.unwrap_or_default();
    Ok((clock, ns, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Series = (Option<String>, Vec<Stamped>);

    fn read(text: &str) -> Result<Vec<Series>, Fault> {
        let mut found = FoundReadings::default();
        super::read(text.as_bytes(), &mut found)?;
        Ok(found.into_series().collect())
    }

    #[test]
    fn answer_and_its_result_alone_are_read_alike() {
        let result = r#"[{"itemid":"44518","clock":"1795354444","value":"4.642021","ns":"471891725"}]"#;
        let found = [(Some("44518".to_owned()), vec![(1_795_354_444, 471_891_725, 4.642021)])];
        assert_eq!(read(result).unwrap(), found);
        assert_eq!(read(&format!(r#"{{"jsonrpc":"2.0","result":{result},"id":1}}"#)).unwrap(), found);
        assert_eq!(read(r#"{"jsonrpc":"2.0","result":null}"#).unwrap(), []);
        let line = r#"{"host":{"host":"sut"},"itemid":44518,"name":"CPU","clock":1795354444,"ns":471891725,"value":4.642021,"type":0}"#;
        assert_eq!(
            read(&format!("{line}\n\n{line}\r\n")).unwrap(),
            [(found[0].0.clone(), [&found[0].1[..], &found[0].1].concat())]
        );
        assert_eq!(read(&format!("{line}\n{{\"clock\":1}}\n")).unwrap_err().line, Some((2, 0)));
    }

    #[test]
    fn errors_trends_and_texts_are_refused() {
        for (text, expected) in [
            (
                r#"{"jsonrpc":"2.0","error":{"code":-32602,"message":"Invalid params.","data":"Session terminated."},"id":6}"#,
                "Session terminated.",
            ),
            (
                r#"[{"itemid":"1","clock":"1795352400","num":"60","value_min":"1","value_avg":"2","value_max":"3"}]"#,
                "trends",
            ),
            (r#"[{"itemid":"1","clock":"1795352400","value":"eth0"}]"#, "\"eth0\""),
            (r#"[{"itemid":"1","clock":"x","value":"1"}]"#, "\"x\""),
            (r#"[{"itemid":"1","#, "EOF"),
        ] {
            let fault = read(text).unwrap_err();
            assert!(fault.problem.contains(expected), "{}", fault.problem);
        }
    }
}
