//! Tables as polars frames: the same values, their types, and null for what is absent.
#![allow(clippy::unwrap_used, reason = "a test stops where something is not as it should be")]
#![cfg(feature = "frames")]

mod support;

use perfpipe_analyze::table::{Table, Value};
use perfpipe_analyze::{Timeline, View};
use polars::prelude::{AnyValue, DataFrame, DataType};
use proptest::prelude::*;
use support::raw;

fn same_value(table: Value<'_>, frame: AnyValue<'_>) -> bool {
    match (table, frame) {
        (Value::Absent, AnyValue::Null) => true,
        (Value::U64(a), AnyValue::UInt64(b)) => a == b,
        (Value::I64(a), AnyValue::Int64(b)) => a == b,
        (Value::F64(a), AnyValue::Float64(b)) => a.to_bits() == b.to_bits(),
        (Value::Text(a), b) => b.get_str() == Some(a),
        (Value::Bool(a), AnyValue::Boolean(b)) => a == b,
        _ => false,
    }
}

fn check(table: &Table, frame: &DataFrame) -> Result<(), TestCaseError> {
    prop_assert_eq!(frame.shape(), (table.len(), table.columns().len()));
    for (at, column) in table.columns().iter().enumerate() {
        let series = frame.column(column.name()).unwrap();
        for row in 0..table.len() {
            prop_assert!(
                same_value(table.value(row, at), series.get(row).unwrap()),
                "{} {row}",
                column.name()
            );
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn frame_holds_what_the_table_holds(raw in raw()) {
        let timeline = Timeline::new(&raw.stored(), &View::default()).unwrap();
        check(&timeline.table(), &timeline.frame().unwrap())?;
        check(&timeline.summary_table(), &timeline.summary_table().frame().unwrap())?;
    }
}

#[test]
fn columns_have_their_types_also_where_all_is_absent() {
    let table = Table::of(&[(), ()])
        .column("count", |()| None::<u64>)
        .column("delta", |()| None::<i64>)
        .column("ratio", |()| None::<f64>)
        .column("name", |()| None::<String>)
        .column("done", |()| None::<bool>)
        .done();
    let frame = table.frame().unwrap();
    let types = [DataType::UInt64, DataType::Int64, DataType::Float64, DataType::String, DataType::Boolean];
    assert_eq!(frame.dtypes(), types);
    assert!(frame.columns().iter().all(|column| column.null_count() == 2));
}

#[test]
fn two_columns_of_one_name_are_refused() {
    let table = Table::of(&[()]).column("x", |()| Some(1u64)).column("x", |()| Some(2u64)).done();
    assert!(table.frame().is_err());
}
