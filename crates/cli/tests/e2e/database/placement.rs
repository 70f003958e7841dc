//! Samples that are dealt out over the nodes of a Citus cluster by their second, or stored in columns.

use super::citus::Cluster;
use crate::postgres::psql;
use crate::support::*;

const RUN: [&str; 4] = ["--framework", "nio", "--test", "2048"];

/// How the samples lie: the kind of table, the column it is distributed by, the way it is stored.
const PLACE: &str = "select citus_table_type, distribution_column, access_method from citus_tables
    where table_name = 'perfpipe.nio_2048'::regclass";

/// Flags, and how samples lie then.
const PLACES: [(&[&str], &str); 4] = [
    (&["--distribute", "second"], "distributed|second|heap"),
    (&["--columnar"], "distributed|<none>|columnar"),
    (&["--distribute", "second", "--columnar"], "distributed|second|columnar"),
    (&["--distribute", "run"], "distributed|<none>|heap"),
];

fn ingest(store: &Store, flags: &[&str]) -> Done {
    let log = fixture("Results-2048-9000.csv.zip");
    store.run(&[&["ingest", log.to_str().unwrap(), "--replace"], &RUN[..], flags].concat())
}

/// What is the same in every store.
fn exports(store: &Store) -> [String; 2] {
    let key = Key::new("nio", "2048");
    ["samples", "seconds"].map(|what| store.export(&key, what, "csv", &[]))
}

#[test]
fn samples_read_the_same_wherever_they_lie_on_a_cluster() {
    let Some(cluster) = Cluster::start() else { return };
    let store = cluster.store();
    assert_told(&ingest(&store, &["--columnar"]).complaint(1), &["citus_columnar"]);
    psql(store.place(), "create extension citus_columnar");
    let folder = Store::embedded();
    ingest(&folder, &[]).said();
    let expected = exports(&folder);
    for (flags, place) in PLACES {
        ingest(&store, flags).said();
        assert_eq!(psql(store.place(), PLACE), place);
        assert_eq!(exports(&store), expected, "{flags:?}");
        // A run that replaces another lies as that did.
        ingest(&store, &[]).said();
        assert_eq!(psql(store.place(), PLACE), place);
        assert_eq!(store.leftovers(), [""; 0]);
    }
    store.run(&[&["drop"], &RUN[..]].concat()).said();
    assert_eq!(store.leftovers(), [""; 0]);
}

#[test]
fn readings_are_attached_to_samples_that_lie_on_all_nodes() {
    let Some(cluster) = Cluster::start() else { return };
    let (store, folder) = (cluster.store(), Store::embedded());
    let cpu = fixture("Results-2048-9000.cpu.csv");
    let found = [(&store, PLACES[0].0), (&folder, &[][..])].map(|(store, flags)| {
        ingest(store, flags).said();
        store.run(&["attach-cpu", "nio_2048", cpu.to_str().unwrap()]).said();
        exports(store)
    });
    assert_eq!(found[0], found[1]);
    assert_eq!(psql(store.place(), PLACE), PLACES[0].1);
}

#[test]
fn percentiles_of_seconds_are_reckoned_on_the_nodes_and_equal_the_export() {
    let Some(cluster) = Cluster::start() else { return };
    let store = cluster.store();
    ingest(&store, PLACES[0].0).said();
    let query = "select second, percentile_cont(array[0.25, 0.5, 0.75, 0.95]) within group (order by elapsed)
                 from perfpipe.nio_2048 where success and not transaction group by second order by second";
    let plan = psql(store.place(), &format!("explain (costs off) {query}"));
    let (above, _) = plan.split_once("Task Count: 4").expect("a plan for all shards");
    assert!(!above.contains("Aggregate"), "{plan}");
    let told = store.export(&Key::new("nio", "2048"), "seconds", "csv", &[]);
    let mut reader = csv::Reader::from_reader(told.as_bytes());
    let columns = ["second", "p25", "p50", "p75", "p95"];
    let headers = reader.headers().unwrap().clone();
    let columns = columns.map(|name| headers.iter().position(|header| header == name).unwrap());
    let rows = reader.records().map(Result::unwrap).filter(|row| !row[columns[1]].is_empty());
    let line = |row: csv::StringRecord| {
        let [second, rest @ ..] = columns.map(|column| row[column].to_owned());
        format!("{second}|{{{}}}", rest.join(","))
    };
    let expected: Vec<String> = rows.map(line).collect();
    assert!(expected.len() > 50, "{} seconds", expected.len());
    assert_eq!(psql(store.place(), query).lines().collect::<Vec<_>>(), expected);
}

#[test]
fn places_on_nodes_are_refused_where_there_are_none() {
    for store in Store::each().into_iter().filter(|store| !store.is_cluster()) {
        for (flags, _) in PLACES {
            let code = if store.is_database() { 1 } else { 2 };
            assert_told(&ingest(&store, flags).complaint(code), &["Citus cluster", flags[0]]);
            // Before a test is followed, not after it.
            let watched =
                store.run(&[&["watch", fixture("crlf.csv").to_str().unwrap()], &RUN[..], flags].concat());
            assert_eq!(watched.out, b"");
            assert_told(&watched.complaint(code), &["Citus cluster", flags[0]]);
            assert!(store.list().is_empty());
        }
    }
}
