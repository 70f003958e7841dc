//! Encodes and decodes the rows of a run's small tables: CPU, errors, labels, rejects.

use crate::series_rows::SeriesRows;
use perfpipe_model::counts::{ErrorCount, LabelCount};
use perfpipe_model::error::Result;
use perfpipe_model::run::rejects::Reject;
use perfpipe_model::sample::intern::Shared;
use perfpipe_model::series::server::ServerSeries;

use super::binary::{RowEncoder, RowFields, whole};

use crate::postgres::schema::layout::RowsOf;

/// The columns of `cpu` after the one that identifies the run.
pub(crate) const CPU: &str = "clock, value";

/// The columns of `series` after the one that identifies the run.
pub(crate) const SERIES: &str = "name, unit, clock, value";

/// The columns of `errors` after the one that identifies the run.
pub(crate) const ERRORS: &str = "second, label, response_code, message, transaction, count";

/// The columns of `labels` after the one that identifies the run.
pub(crate) const LABELS: &str = "label, successes, failures, transactions";

/// The columns of `rejects` after the one that identifies the run.
pub(crate) const REJECTS: &str = "number, file, member, line, byte, reason, record, code";

/// The columns of `rejects` in schemas that were created before rejects had codes.
pub(crate) const REJECTS_WITHOUT_CODE: &str = "number, file, member, line, byte, reason, record, null::text";

pub(crate) fn put_cpu(rows: &mut RowEncoder, run: &RowsOf, (clock, value): (i64, f64)) {
    rows.row(3);
    run.put(rows);
    rows.i64(clock);
    rows.f64(value);
}

pub(crate) fn get_cpu(fields: &mut RowFields<'_>) -> Result<(i64, f64)> {
    Ok((fields.i64()?, fields.f64()?))
}

pub(crate) fn put_series(
    rows: &mut RowEncoder,
    run: &RowsOf,
    series: &ServerSeries,
    (clock, value): (i64, f64),
) {
    rows.row(5);
    run.put(rows);
    rows.any_text(&series.name);
    rows.any_text(&series.unit);
    rows.i64(clock);
    rows.f64(value);
}

pub(crate) fn get_series(fields: &mut RowFields<'_>, rows: &mut SeriesRows) -> Result<()> {
    let (name, unit) = (fields.text()?, fields.text()?);
    rows.add(name, unit, (fields.i64()?, fields.f64()?));
    Ok(())
}

pub(crate) fn put_error(rows: &mut RowEncoder, run: &RowsOf, error: &ErrorCount) -> Result<()> {
    rows.row(7);
    run.put(rows);
    rows.i32(whole(error.second)?);
    rows.any_text(&error.label);
    rows.any_text(&error.response_code);
    rows.any_text(&error.message);
    rows.bool(error.transaction);
    rows.i64(whole(error.count)?);
    Ok(())
}

pub(crate) fn get_error(fields: &mut RowFields<'_>, texts: &mut Shared) -> Result<ErrorCount> {
    Ok(ErrorCount {
        second: whole(fields.i32()?)?,
        label: texts.text(fields.text()?),
        response_code: texts.text(fields.text()?),
        message: texts.text(fields.text()?),
        transaction: fields.bool()?,
        count: whole(fields.i64()?)?,
    })
}

pub(crate) fn put_label(rows: &mut RowEncoder, run: &RowsOf, count: &LabelCount) -> Result<()> {
    rows.row(5);
    run.put(rows);
    rows.any_text(&count.label);
    rows.i64(whole(count.successes)?);
    rows.i64(whole(count.failures)?);
    rows.i64(whole(count.transactions)?);
    Ok(())
}

pub(crate) fn get_label(fields: &mut RowFields<'_>) -> Result<LabelCount> {
    Ok(LabelCount {
        label: fields.text()?.to_owned(),
        successes: whole(fields.i64()?)?,
        failures: whole(fields.i64()?)?,
        transactions: whole(fields.i64()?)?,
    })
}

pub(crate) fn put_reject(rows: &mut RowEncoder, run: &RowsOf, number: i64, reject: &Reject) -> Result<()> {
    rows.row(9);
    run.put(rows);
    rows.i64(number);
    rows.any_text(&reject.file);
    rows.maybe(reject.member.as_deref(), RowEncoder::any_text);
    rows.i64(whole(reject.line)?);
    rows.i64(whole(reject.byte)?);
    rows.any_text(&reject.reason);
    rows.any_text(&reject.record);
    rows.maybe(reject.code.as_deref(), RowEncoder::any_text);
    Ok(())
}

pub(crate) fn get_reject(fields: &mut RowFields<'_>) -> Result<Reject> {
    let _number = fields.i64()?;
    Ok(Reject {
        file: fields.text()?.to_owned(),
        member: fields.maybe_text()?.map(str::to_owned),
        line: whole(fields.i64()?)?,
        byte: whole(fields.i64()?)?,
        reason: fields.text()?.to_owned(),
        record: fields.text()?.to_owned(),
        code: fields.maybe_text()?.map(str::to_owned),
    })
}
