//! Exported figures, against the samples and other tools.

mod forms;
mod goals;
mod interchange;
mod interval_logs;
mod labels;
mod parquet;
mod phases;
mod prometheus;
mod resolution;
mod serve;
mod services;
mod site;
mod site_pages;
mod sweep;
mod tool_logs;
