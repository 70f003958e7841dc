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

pub(super) fn read(text: &[u8]) -> Result<Found, Fault> {
    let answer: Answer<'_> = json(text, "an answer of Prometheus to query_range")?;
    let Some(data) = answer.data else {
        return Err(flaw(format!("is an error of Prometheus: {}", answer.error)));
    };
    if data.result_type != "matrix" {
        let problem =
            format!("is an answer of the type {}; that of query_range is a matrix", data.result_type);
        return Err(flaw(problem));
    }
    let mut found = Found::default();
    for series in &data.result {
        let name = name(&series.metric);
        for (time, text) in &series.values {
            match text.parse::<f64>() {
                Ok(value) if value.is_nan() => found.empty_values += 1,
                Ok(value) if value.is_finite() => found.readings.push(reading(*time, value, &name)),
                _ => return Err(flaw(format!("the value {text:?} at {time} is not a finite number"))),
            }
        }
    }
    Ok(found)
}

fn reading(time: f64, value: f64, name: &Option<String>) -> Reading {
    // Prometheus gives milliseconds.
    let ms = (time * 1000.0).round() as i64;
    let ns = u32::try_from(ms.rem_euclid(1000)).unwrap_or_default() * 1_000_000;
    Reading { clock: ms.div_euclid(1000), ns, value, series: name.clone() }
}

/// The name of a series by its labels, as Prometheus writes it; `None` if it has none, as a sum.
fn name(labels: &BTreeMap<Cow<'_, str>, Cow<'_, str>>) -> Option<String> {
    let metric = labels.get("__name__").map(|name| &**name).unwrap_or_default();
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
