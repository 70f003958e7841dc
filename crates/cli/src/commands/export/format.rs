//! The formats of what is exported.

use perfpipe_analyze::Format;

use super::args::ExportFormat;

/// The text format of an export; `None` is Parquet.
pub(crate) fn text_format(format: ExportFormat) -> Option<Format> {
    match format {
        ExportFormat::Csv => Some(Format::Csv),
        ExportFormat::Json => Some(Format::Json),
        ExportFormat::Md => Some(Format::Markdown),
        ExportFormat::Text => Some(Format::Text),
        ExportFormat::Parquet => None,
    }
}
