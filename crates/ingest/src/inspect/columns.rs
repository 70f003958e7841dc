//! The columns of a log: the missing ones with the consequences, and the ignored ones.

use serde::Serialize;

use perfpipe_formats::jtl::layout::{Layout, LayoutOptions};

/// One of JMeter's default columns that a log lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MissingColumn {
    /// The name of the column.
    pub name: &'static str,
    /// What is lost without it, as a clause.
    pub lost: &'static str,
}

/// What is lost without each optional one of JMeter's default columns. The other three that are read are required.
const LOST: [MissingColumn; 13] = [
    lost("label", "requests can't be separated by label"),
    lost("responseCode", "failures can't be separated by code"),
    lost("responseMessage", "a transaction controller's own records count as requests"),
    lost("threadName", "injectors are known only from Hostname or from the logs"),
    lost("dataType", "transactions are recognised by message and URL alone"),
    lost("failureMessage", "failures have the responseMessage only"),
    lost("bytes", "no bytes received"),
    lost("sentBytes", "no bytes sent"),
    lost("allThreads", "no load, and so no phases, no sweep and no knee"),
    lost("URL", "framework and test can't be inferred from it"),
    lost("Latency", "no latency"),
    lost("IdleTime", "no idle times"),
    lost("Connect", "no times to connect"),
];

const fn lost(name: &'static str, lost: &'static str) -> MissingColumn {
    MissingColumn { name, lost }
}

/// The columns of a log.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ColumnNames {
    /// All columns, in order.
    pub(super) all: Vec<String>,
    /// The missing columns.
    pub(super) missing: Vec<MissingColumn>,
    /// The columns that are not kept: unknown ones, repeated names, and numbers that are only checked.
    pub(super) ignored: Vec<String>,
}

impl ColumnNames {
    pub(super) fn of(layout: &Layout, options: &LayoutOptions) -> Self {
        let all = layout.names(options);
        let read = layout.columns.read();
        let missing = LOST.into_iter().filter(|column| !all.iter().any(|name| name == column.name)).collect();
        let mut kept = vec![false; all.len()];
        for place in read {
            if let Some(kept) = kept.get_mut(place) {
                *kept = true;
            }
        }
        let ignored = all.iter().zip(kept).filter(|(_, kept)| !kept).map(|(name, _)| name.clone()).collect();
        Self { all, missing, ignored }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perfpipe_formats::jtl::layout::DEFAULT_COLUMNS;
    use perfpipe_model::error::Place;

    fn of(header: &str) -> ColumnNames {
        let options = LayoutOptions::default();
        let layout = Layout::detect(header.as_bytes(), &options, &Place::default()).unwrap();
        ColumnNames::of(&layout, &options)
    }

    #[test]
    fn usual_log_lacks_nothing() {
        let columns = of(DEFAULT_COLUMNS);
        assert_eq!(
            (columns.all.len(), columns.missing, columns.ignored),
            (17, vec![], vec!["grpThreads".into()])
        );
    }

    /// If one of the default columns is left out, it is reported as missing, provided that it is read at all.
    #[test]
    fn whatever_is_missing_is_told() {
        let names: Vec<&str> = DEFAULT_COLUMNS.split(',').collect();
        for name in &names {
            if ["timeStamp", "elapsed", "success"].contains(name) {
                continue;
            }
            let rest: Vec<&str> = names.iter().copied().filter(|other| other != name).collect();
            let columns = of(&rest.join(","));
            let missing: Vec<&str> = columns.missing.iter().map(|column| column.name).collect();
            assert_eq!(missing, if *name == "grpThreads" { vec![] } else { vec![*name] });
        }
    }

    #[test]
    fn columns_that_are_not_read_are_ignored() {
        let columns = of("Filename;timeStamp;elapsed;success;elapsed;Hostname;\"a\"");
        assert_eq!(columns.ignored, ["Filename", "elapsed", "a"]);
        assert_eq!(columns.missing.len(), LOST.len());
    }
}
