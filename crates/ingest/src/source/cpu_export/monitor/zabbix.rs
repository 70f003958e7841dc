//! Reads what Zabbix's API answers to `history.get`, whole or its result alone.

use std::borrow::Cow;

use serde::Deserialize;

use super::found::{Found, flaw, json};
use crate::error::ErrorKind;
use crate::run::fault::Fault;
use crate::source::cpu_export::row::Reading;

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    result: Option<Vec<Entry<'a>>>,
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

/// A reading, all of whose fields are texts.
#[derive(Deserialize)]
struct Entry<'a> {
    #[serde(borrow)]
    itemid: Option<Cow<'a, str>>,
    #[serde(borrow)]
    clock: Cow<'a, str>,
    #[serde(borrow)]
    value: Option<Cow<'a, str>>,
    #[serde(borrow)]
    ns: Option<Cow<'a, str>>,
    /// The mean of an hour, if this is no reading.
    #[serde(borrow)]
    value_avg: Option<Cow<'a, str>>,
}

pub(super) fn read(text: &[u8]) -> Result<Found, Fault> {
    let what = "an answer of Zabbix to history.get";
    let entries: Vec<Entry<'_>> = match text.first() {
        Some(b'[') => json(text, what)?,
        _ => match json::<Answer<'_>>(text, what)? {
            Answer { error: Some(Failure { message, data }), .. } => {
                return Err(flaw(format!("is an error of Zabbix: {message} {data}")));
            }
            Answer { result, .. } => result.unwrap_or_default(),
        },
    };
    let readings = entries.iter().map(reading).collect::<Result<_, _>>()?;
    Ok(Found { readings, ..Found::default() })
}

fn reading(entry: &Entry<'_>) -> Result<Reading, Fault> {
    if entry.value_avg.is_some() {
        let remedy = "Export the item's history (history.get), as long as Zabbix keeps it.";
        return Err(Fault::new(
            ErrorKind::CpuReading,
            "holds trends, the means of hours, not readings",
            remedy,
        ));
    }
    let text = entry.value.as_deref().unwrap_or_default();
    let value = text.trim().parse::<f64>().ok().filter(|value| value.is_finite());
    let value = value.ok_or_else(|| {
        flaw(format!("the value {:?} at {} is not a number", shown(text), shown(&entry.clock)))
    })?;
    let clock =
        entry.clock.parse().map_err(|_| flaw(format!("{:?} is no epoch second", shown(&entry.clock))))?;
    let ns = entry.ns.as_deref().and_then(|ns| ns.parse().ok()).filter(|ns| *ns < 1_000_000_000);
    let ns = ns.unwrap_or_default();
    Ok(Reading { clock, ns, value, series: entry.itemid.as_deref().map(str::to_owned) })
}

/// The begin of a text, for a message.
fn shown(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answer_and_its_result_alone_are_read_alike() {
        let result = r#"[{"itemid":"44518","clock":"1795354444","value":"4.642021","ns":"471891725"}]"#;
        let found = read(result.as_bytes()).unwrap();
        let series = Some("44518".to_owned());
        assert_eq!(
            found.readings,
            [Reading { clock: 1_795_354_444, ns: 471_891_725, value: 4.642021, series }]
        );
        assert_eq!(
            read(format!(r#"{{"jsonrpc":"2.0","result":{result},"id":1}}"#).as_bytes()).unwrap(),
            found
        );
    }

    #[test]
    fn errors_trends_and_texts_are_refused() {
        for (text, told) in [
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
            let fault = read(text.as_bytes()).unwrap_err();
            assert!(fault.problem.contains(told), "{}", fault.problem);
        }
    }
}
