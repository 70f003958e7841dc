//! Reads what Prometheus answers to `query_range`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;

use super::found::{Found, flaw, json};
use crate::run::fault::Fault;
use crate::source::cpu_export::row::Reading;

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow, default)]
    error: Cow<'a, str>,
    #[serde(borrow)]
    data: Option<Data<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Data<'a> {
    #[serde(borrow)]
    result_type: Cow<'a, str>,
    #[serde(borrow, default)]
    result: Vec<Series<'a>>,
}

#[derive(Deserialize)]
struct Series<'a> {
    #[serde(borrow, default)]
    metric: BTreeMap<Cow<'a, str>, Cow<'a, str>>,
    /// Times in seconds, and values.
    #[serde(borrow, default)]
    values: Vec<(f64, Cow<'a, str>)>,
}

/// A series that is told apart from others by its labels.
#[derive(Debug, Default, PartialEq)]
pub(in crate::source::cpu_export) struct Labelled {
    pub(in crate::source::cpu_export) labels: BTreeMap<String, String>,
    pub(in crate::source::cpu_export) found: Found,
}

/// Reads the series of an answer together: each reading tells the name of its series.
pub(super) fn read(text: &[u8]) -> Result<Found, Fault> {
    let mut all = Found::default();
    for Labelled { labels, found } in series(text)? {
        let name = name(&labels);
        all.empty_values += found.empty_values;
        all.readings
            .extend(found.readings.into_iter().map(|reading| Reading { series: name.clone(), ..reading }));
    }
    Ok(all)
}

/// Reads the series of an answer, each by itself.
pub(in crate::source::cpu_export) fn series(text: &[u8]) -> Result<Vec<Labelled>, Fault> {
    let answer: Answer<'_> = json(text, "an answer of Prometheus to query_range")?;
    let Some(data) = answer.data else {
        return Err(flaw(format!("is an error of Prometheus: {}", answer.error)));
    };
    if data.result_type != "matrix" {
        let problem =
            format!("is an answer of the type {}; that of query_range is a matrix", data.result_type);
        return Err(flaw(problem));
    }
    data.result.into_iter().map(labelled).collect()
}

fn labelled(series: Series<'_>) -> Result<Labelled, Fault> {
    let own = |(label, value): (Cow<'_, str>, Cow<'_, str>)| (label.into_owned(), value.into_owned());
    let mut labelled =
        Labelled { labels: series.metric.into_iter().map(own).collect(), ..Labelled::default() };
    for (time, text) in &series.values {
        match text.parse::<f64>() {
            Ok(value) if value.is_nan() => labelled.found.empty_values += 1,
            Ok(value) if value.is_finite() => labelled.found.readings.push(reading(*time, value)),
            _ => return Err(flaw(format!("the value {text:?} at {time} is not a finite number"))),
        }
    }
    Ok(labelled)
}

fn reading(time: f64, value: f64) -> Reading {
    // Prometheus gives milliseconds.
    let ms = (time * 1000.0).round() as i64;
    let ns = u32::try_from(ms.rem_euclid(1000)).unwrap_or_default() * 1_000_000;
    Reading { clock: ms.div_euclid(1000), ns, value, series: None }
}

/// The name of a series by its labels, as Prometheus writes it; `None` if it has none, as a sum.
pub(in crate::source::cpu_export) fn name(labels: &BTreeMap<String, String>) -> Option<String> {
    let metric = labels.get("__name__").map(String::as_str).unwrap_or_default();
    let others = labels.iter().filter(|(label, _)| *label != "__name__");
    let others: Vec<String> = others.map(|(label, value)| format!("{label}={value:?}")).collect();
    match (metric, others.as_slice()) {
        ("", []) => None,
        (metric, []) => Some(metric.to_owned()),
        (metric, others) => Some(format!("{metric}{{{}}}", others.join(","))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_are_named_by_their_labels() {
        let text = r#"{"status":"success","data":{"resultType":"matrix","result":[
            {"metric":{},"values":[[1795354593,"2.50000000000945"],[1795354594.25,"NaN"]]},
            {"metric":{"__name__":"up","job":"node"},"values":[[1795354593.781,"1"]]}]}}"#;
        let found = read(text.as_bytes()).unwrap();
        let second = Some(r#"up{job="node"}"#.to_owned());
        let reading = |ns, value, series| Reading { clock: 1_795_354_593, ns, value, series };
        assert_eq!(found.readings, [reading(0, 2.50000000000945, None), reading(781_000_000, 1.0, second)]);
        assert_eq!(found.empty_values, 1);
    }

    #[test]
    fn errors_and_other_answers_are_refused() {
        for (text, told) in [
            (
                r#"{"status":"error","errorType":"bad_data","error":"exceeded maximum resolution of 11,000 points"}"#,
                "11,000",
            ),
            (
                r#"{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"2"]}]}}"#,
                "vector",
            ),
            (
                r#"{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[1,"+Inf"]]}]}}"#,
                "+Inf",
            ),
        ] {
            let fault = read(text.as_bytes()).unwrap_err();
            assert!(fault.problem.contains(told), "{}", fault.problem);
        }
    }
}
