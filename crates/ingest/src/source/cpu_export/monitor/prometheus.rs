//! Reads what Prometheus answers to `query_range`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::found::{FoundReadings, Stamped, flaw, shown};
use super::json::{each, part, whole};
use perfpipe_model::run::damage::Fault;

/// What a text has to be.
const WHAT: &str = "an answer of Prometheus to query_range";

/// The number of characters of a warning that are shown.
const LONGEST_WARNING: usize = 300;

/// The maximum size of the labels of a series as JSON, in bytes.
const LONGEST_LABELS: usize = 4 << 10;

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow, default)]
    error: Cow<'a, str>,
    #[serde(borrow)]
    data: Option<Data<'a>>,
    /// What is wrong with an answer that is given all the same, as Thanos and Mimir do for a store that is not reached.
    #[serde(borrow)]
    warnings: Option<&'a RawValue>,
    /// True if VictoriaMetrics did not reach all of its storage.
    #[serde(rename = "isPartial", default)]
    is_partial: bool,
}

impl Answer<'_> {
    /// Returns why the answer may not be whole, as a clause.
    fn doubt(&self) -> Result<Option<String>, Fault> {
        let mut first = None;
        if let Some(warnings) = self.warnings {
            each(warnings, WHAT, |warning: Cow<'_, str>| {
                first.get_or_insert_with(|| warning.chars().take(LONGEST_WARNING).collect::<String>());
                Ok(())
            })?;
        }
        Ok(match (first, self.is_partial) {
            (Some(warning), _) => {
                Some(format!("the answer came with a warning, and may not be whole: {warning}"))
            }
            (None, true) => Some("the answer is partial: not all of the storage was reached".to_owned()),
            (None, false) => None,
        })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Data<'a> {
    #[serde(borrow)]
    result_type: Cow<'a, str>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

/// The labels of a series.
pub(in crate::source::cpu_export) type SeriesLabels = BTreeMap<String, String>;

/// A series of an answer.
#[derive(Deserialize)]
pub(in crate::source::cpu_export) struct Series<'a> {
    #[serde(borrow)]
    metric: Option<&'a RawValue>,
    /// Times in seconds, and values.
    #[serde(borrow)]
    values: Option<&'a RawValue>,
}

impl Series<'_> {
    /// Returns the labels that distinguish it from others.
    ///
    /// # Errors
    /// If they are no labels, or too long.
    pub(in crate::source::cpu_export) fn labels(&self) -> Result<SeriesLabels, Fault> {
        match self.metric {
            None => Ok(SeriesLabels::new()),
            Some(metric) if metric.get().len() > LONGEST_LABELS => {
                Err(flaw("has a series whose labels take more than 4 KiB"))
            }
            Some(metric) => part(metric, WHAT),
        }
    }

    /// Passes on the readings. Returns how many have no value.
    ///
    /// # Errors
    /// If one can't be read, or is refused.
    pub(in crate::source::cpu_export) fn readings(
        &self,
        mut take: impl FnMut(Stamped) -> Result<(), Fault>,
    ) -> Result<u64, Fault> {
        let mut empty = 0;
        let Some(values) = self.values else { return Ok(empty) };
        each(values, WHAT, |(time, text): (f64, Cow<'_, str>)| match text.parse::<f64>() {
            Ok(value) if value.is_nan() => {
                empty += 1;
                Ok(())
            }
            Ok(value) => take(reading(time, value)),
            Err(_) => Err(flaw(format!("the value {:?} at {time:e} is not a number", shown(&text)))),
        })?;
        Ok(empty)
    }
}

/// Reads the series of an answer: each reading by the name of its series.
pub(super) fn read(text: &[u8]) -> Result<FoundReadings, Fault> {
    let mut found = FoundReadings::default();
    let doubt = each_series(text, |series| {
        let place = found.series(&name(&series.labels()?).unwrap_or_default())?;
        let empty = series.readings(|reading| found.add(place, reading))?;
        found.empty_values += empty;
        Ok(())
    })?;
    found.doubt = doubt;
    Ok(found)
}

/// Passes on the series of an answer, one at a time. Returns why it may not be whole, as a clause, if it says so.
///
/// # Errors
/// If it is none, or if a series is refused.
pub(in crate::source::cpu_export) fn each_series(
    text: &[u8],
    take: impl FnMut(Series<'_>) -> Result<(), Fault>,
) -> Result<Option<String>, Fault> {
    let answer: Answer<'_> = whole(text, WHAT)?;
    let doubt = answer.doubt()?;
    let Some(data) = answer.data else {
        return Err(flaw(format!("is an error of Prometheus: {}", answer.error)));
    };
    if data.result_type != "matrix" {
        let of = shown(&data.result_type);
        return Err(flaw(format!("is an answer of the type {of}; that of query_range is a matrix")));
    }
    data.result.map_or(Ok(()), |result| each(result, WHAT, take))?;
    Ok(doubt)
}

fn reading(time: f64, value: f64) -> Stamped {
    // Prometheus gives milliseconds.
    let ms = (time * 1000.0).round() as i64;
    let ns = u32::try_from(ms.rem_euclid(1000)).unwrap_or_default() * 1_000_000;
    (ms.div_euclid(1000), ns, value)
}

/// The name of a series by its labels, as Prometheus writes it; `None` if it has none, as a sum.
pub(in crate::source::cpu_export) fn name(labels: &SeriesLabels) -> Option<String> {
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
        assert_eq!(found.empty_values, 1);
        let second = Some(r#"up{job="node"}"#.to_owned());
        let reading = |ns, value| vec![(1_795_354_593, ns, value)];
        assert_eq!(
            found.into_series().collect::<Vec<_>>(),
            [(None, reading(0, 2.50000000000945)), (second, reading(781_000_000, 1.0))]
        );
    }

    #[test]
    fn answers_that_may_not_be_whole_say_so() {
        let of = |more: &str| {
            let text =
                format!(r#"{{"status":"success",{more}"data":{{"resultType":"matrix","result":[]}}}}"#);
            read(text.as_bytes()).unwrap().doubt.unwrap_or_default()
        };
        assert!(of(r#""warnings":["store a is down","store b"],"#).ends_with("whole: store a is down"));
        assert!(of(r#""isPartial":true,"#).contains("partial"));
        assert_eq!(of(r#""isPartial":false,"warnings":[],"#), "");
    }

    #[test]
    fn errors_and_other_answers_are_refused() {
        for (text, expected) in [
            (
                r#"{"status":"error","errorType":"bad_data","error":"exceeded maximum resolution of 11,000 points"}"#,
                "11,000",
            ),
            (
                r#"{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"2"]}]}}"#,
                "vector",
            ),
            (
                r#"{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[1,"x"]]}]}}"#,
                "\"x\"",
            ),
        ] {
            let fault = read(text.as_bytes()).unwrap_err();
            assert!(fault.problem.contains(expected), "{}", fault.problem);
        }
    }
}
