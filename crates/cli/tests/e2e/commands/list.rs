//! `list`: its figures, and its order.

use crate::support::*;

fn filled() -> Store {
    let store = Store::embedded();
    for (framework, log) in
        [("go", "crlf.csv"), ("node", "distributed.csv"), ("spring", "Results-vars-8181.csv")]
    {
        let log = fixture(log);
        store.run(&["ingest", log.to_str().unwrap(), "--framework", framework, "--test", "t"]).said();
    }
    store
}

#[test]
fn list_has_the_figures_of_the_summary() {
    let store = filled();
    for row in store.run(&["list", "--times", "--format", "json"]).rows_anyway() {
        let name = format!("{}_t", text(&row, "framework"));
        let export = ["export", &name, "--what", "summary", "--format", "json"];
        let summary: serde_json::Value = serde_json::from_str(&store.run(&export).text()).unwrap();
        for figure in ["throughput", "p50", "p95", "p99"] {
            assert_eq!(row[figure], summary[0][figure], "{name} {figure}");
        }
    }
    let rows = store.run(&["list", "--format", "json"]).rows_anyway();
    assert!(rows.iter().all(|row| row["p95"].is_null() && row["throughput"].is_number()));
}

#[test]
fn list_is_sorted_by_any_column() {
    let store = filled();
    let order = |column: &str, figure: &str| -> Vec<f64> {
        let rows = store.run(&["list", "--sort", column, "--format", "json"]).rows_anyway();
        rows.iter().map(|row| row[figure].as_f64().unwrap()).collect()
    };
    assert!(order("requests", "requests").is_sorted_by(|one, other| one >= other));
    assert!(order("throughput", "throughput").is_sorted_by(|one, other| one >= other));
    // The times are read where they are sorted by.
    assert!(order("p95", "p95").is_sorted());
    let refused = store.run(&["list", "--sort", "speed"]).complaint(2);
    assert_told(&refused, &["no column speed", "throughput"]);
    store.run(&["list", "--points", "--sort", "framework"]).complaint(2);
}
