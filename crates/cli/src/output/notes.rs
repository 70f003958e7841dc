//! Notes about a run's files, with the flags that help.

use perfpipe_ingest::run::{Note, NoteKind};

/// A note, and what can be done about it.
pub(crate) fn with_hint(note: &Note) -> String {
    hint(note.kind()).map_or_else(|| note.to_string(), |hint| format!("{note}; {hint}"))
}

fn hint(kind: NoteKind) -> Option<String> {
    let hint = match kind {
        NoteKind::LongLookback => "--cpu-lookback sets another time",
        NoteKind::CpuApart => "see --cpu-offset and --time-zone",
        NoteKind::PerhapsFraction { cores } => {
            let cores = cores.map_or_else(|| "N".to_owned(), |cores| cores.to_string());
            return Some(format!("if so, give --cpu-scale fraction --cores {cores}"));
        }
        NoteKind::PerhapsOfMachine { cores } => {
            return Some(format!("if so, give --cpu-scale percent-of-machine --cores {cores}"));
        }
        NoteKind::PerhapsOfCore => "if so, give --cpu-scale percent-of-core",
        NoteKind::PerhapsPercent => "if so, give --cpu-scale percent-of-machine or percent-of-core",
        NoteKind::MoreThanCores => "see --cores",
        _ => return None,
    };
    Some(hint.to_owned())
}
