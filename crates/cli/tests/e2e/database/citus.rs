//! A Citus cluster: the runs of a database lie on its nodes, and appear whole or not at all.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::database::migrate::make_layout_3;
use crate::interruptions::kills::{exports, ingest_that_waits, samples_are_stored, store_with_run};
use crate::postgres::required::skip;
use crate::postgres::{TestServer, psql, psql_command};
use crate::support::*;

/// A cluster of a coordinator and two workers, which ends with this.
pub(super) struct Cluster {
    folder: tempfile::TempDir,
    server: TestServer,
}

impl Cluster {
    /// Starts one; `None`, with a note, where Citus is not installed.
    pub(super) fn start() -> Option<Self> {
        let folder = tempfile::Builder::new().prefix("citustest").tempdir_in("/tmp").unwrap();
        let started = script(&["start"], folder.path());
        if started.code != Some(0) {
            skip("CITUS", started.err);
            return None;
        }
        let server = TestServer::at(started.text().trim_end().to_owned(), true);
        Some(Self { folder, server })
    }

    pub(super) fn store(&self) -> Store {
        Store::at(["--database".into(), self.server.database()])
    }

    /// Ends a worker as a power failure would. Returns its address.
    fn stop(&self, worker: &str) -> String {
        script_on(&["stop"], self.folder.path(), &[worker]).text();
        self.address(worker)
    }

    /// The URL of a store's database on a worker.
    fn on(&self, worker: &str, store: &Store) -> String {
        format!("postgres://postgres@{}/{}", self.address(worker), store.place().rsplit('/').next().unwrap())
    }

    fn address(&self, worker: &str) -> String {
        let settings = self.folder.path().join(worker).join("postgresql.conf");
        let settings = std::fs::read_to_string(settings).unwrap();
        let port = settings.lines().find_map(|line| line.strip_prefix("port = "));
        format!("localhost:{}", port.unwrap())
    }

    /// Starts again what was stopped.
    fn restart(&self) {
        script(&["start"], self.folder.path()).text();
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        script(&["stop"], self.folder.path());
    }
}

fn script(before: &[&str], folder: &Path) -> Done {
    script_on(before, folder, &[])
}

fn script_on(before: &[&str], folder: &Path, after: &[&str]) -> Done {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.ci/citus");
    done(Command::new(path).args(before).arg(folder).args(after))
}

/// How each table lies on the nodes: its kind, the column it is distributed by, and its number of shards.
const PLACES: &str = "select table_name, citus_table_type, distribution_column, shard_count from citus_tables
    order by table_name::text collate \"C\"";

#[test]
fn runs_lie_on_the_nodes_and_read_as_on_a_single_server() {
    let Some(cluster) = Cluster::start() else { return };
    let (store, stored) = store_with_run(cluster.store());
    let (_, expected) = store_with_run(Store::embedded());
    assert_eq!(stored, expected);
    let by_run = ["cpu", "errors", "labels", "rejects", "runs", "seconds"]
        .map(|name| format!("perfpipe.{name}|distributed|run|4"));
    let mut places = by_run.to_vec();
    places.insert(3, "perfpipe.layout|reference|<none>|1".to_owned());
    places.insert(4, "perfpipe.nio_2048|distributed|<none>|1".to_owned());
    assert_eq!(psql(store.place(), PLACES).lines().collect::<Vec<_>>(), places);
    // A cluster takes samples on one connection, and says so.
    let log = fixture("distributed.csv");
    let told = ["--framework", "nio", "--test", "2048", "--connections", "3"];
    let said = store.run(&[&["ingest", log.to_str().unwrap()][..], &told].concat()).said();
    assert_told(&said, &["--connections", "one connection"]);
    assert_eq!(exports(&store), expected);
    store.run(&["drop", "--framework", "nio", "--test", "2048"]).said();
    assert!(store.list().is_empty());
    assert!(!psql(store.place(), PLACES).contains("nio"));
}

#[test]
fn worker_that_stops_in_an_ingest_is_named_and_the_earlier_run_stays_whole() {
    let Some(cluster) = Cluster::start() else { return };
    let (store, before) = store_with_run(cluster.store());
    for worker in ["worker1", "worker2"] {
        let (child, stdin) = ingest_that_waits(&store, 48 << 20);
        wait_for("samples flow", || samples_are_stored(&store));
        let node = cluster.stop(worker);
        drop(stdin);
        let complaint = finish(child).complaint(1);
        assert!(complaint.contains(&node), "{node} is not in: {complaint}");
        let log = fixture("crlf.csv");
        let refused = store.run(&["ingest", log.to_str().unwrap(), "--framework", "nio", "--test", "2048"]);
        assert_told(&refused.complaint(1), &[&node]);
        cluster.restart();
        assert_eq!(exports(&store), before);
    }
    let log = fixture("crlf.csv");
    store.run(&["ingest", log.to_str().unwrap(), "--framework", "nio", "--test", "2048"]).said();
    assert_eq!(count(&store.list()[0], "requests"), 200);
}

#[test]
fn migration_puts_samples_on_the_nodes() {
    let Some(cluster) = Cluster::start() else { return };
    let store = cluster.store();
    psql(store.place(), "create schema perfpipe");
    make_layout_3(store.place(), "postgres");
    let (store, expected) = store_with_run(store);
    psql(store.place(), "select undistribute_table('perfpipe.nio_2048')");
    assert_eq!(exports(&store), expected);
    assert_told(&store.run(&["migrate", "--dry-run"]).said(), &["samples of 1 run go to the nodes"]);
    assert_told(&store.run(&["migrate"]).said(), &["layout 4"]);
    assert_eq!(exports(&store), expected);
    assert_told(&psql(store.place(), PLACES), &["perfpipe.nio_2048|distributed|<none>|1"]);
    let left = "select sum(pg_relation_size(oid)) from pg_class where relnamespace = 'perfpipe'::regnamespace
                and relkind = 'r' and relname <> 'layout'";
    assert_eq!(psql(store.place(), left), "0");
}

/// Readers end on the coordinator before they end on the nodes.
#[test]
fn lock_that_is_held_on_a_node_alone_is_waited_for() {
    let Some(cluster) = Cluster::start() else { return };
    let (store, _) = store_with_run(cluster.store());
    let node = cluster.on("worker1", &store);
    let hold = "set citus.enable_ddl_propagation = off; begin;
                lock table perfpipe.nio_2048 in access share mode; select pg_sleep(3)";
    let mut holder = psql_command(&node).args(["-c", hold]).spawn().unwrap();
    let held = "select count(*) from pg_locks where relation = to_regclass('perfpipe.nio_2048') and granted
                and mode = 'AccessShareLock'";
    wait_for("the node's table is locked", || psql(&node, held) == "1");
    let log = fixture("crlf.csv");
    store.run(&["ingest", log.to_str().unwrap(), "--framework", "nio", "--test", "2048"]).said();
    holder.wait().unwrap();
    assert_eq!(count(&store.list()[0], "requests"), 200);
}

/// The arguments that name the run of a writer.
fn run_of(writer: &str) -> [&str; 4] {
    ["--framework", "go", "--test", writer]
}

/// What a run may read as: either log, whole.
fn whole_runs(logs: &[String]) -> Vec<[String; 2]> {
    let read = |log: &String| {
        let store = Store::embedded();
        store.run(&[&["ingest", log][..], &run_of("0")].concat()).said();
        ["seconds", "samples"]
            .map(|what| store.run(&[&["export", "--what", what][..], &run_of("0")].concat()).text())
    };
    logs.iter().map(read).collect()
}

const WRITERS: [&str; 4] = ["0", "1", "2", "3"];

#[test]
#[ignore = "takes as long as PERFPIPE_TRIAL_SECONDS says, else ten minutes: .ci/long citus"]
fn writers_and_readers_trial() {
    let cluster = Cluster::start().expect("Citus is installed");
    let store = cluster.store();
    let seconds = std::env::var("PERFPIPE_TRIAL_SECONDS").map_or(600, |told| told.parse().unwrap());
    let until = Instant::now() + Duration::from_secs(seconds);
    let logs = ["distributed.csv", "crlf.csv"].map(|name| fixture(name).to_str().unwrap().to_owned());
    let whole = whole_runs(&logs);
    let ingest =
        |writer: &str, log: &String| store.run(&[&["ingest", log][..], &run_of(writer)].concat()).said();
    WRITERS.iter().for_each(|writer| drop(ingest(writer, &logs[0])));
    let (written, read, replaced) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let failed = AtomicBool::new(false);
    let going = || Instant::now() < until && !failed.load(Ordering::Relaxed);
    let guarded = |work: &dyn Fn()| {
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        failed.fetch_or(ended.is_err(), Ordering::Relaxed);
        ended.unwrap();
    };
    let write = |writer: &str| {
        for log in logs.iter().rev().cycle() {
            if !going() {
                break;
            }
            ingest(writer, log);
            written.fetch_add(1, Ordering::Relaxed);
        }
    };
    let reading = |reader: usize| {
        for at in reader.. {
            if !going() {
                break;
            }
            let (what, run) = (at % 2, WRITERS[at / 2 % 4]);
            let done =
                store.run(&[&["export", "--what", ["seconds", "samples"][what]][..], &run_of(run)].concat());
            if done.code != Some(0) && done.err.contains("replaced") {
                replaced.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            let text = done.text();
            assert!(whole.iter().any(|run| run[what] == text), "a torn run, {} lines", text.lines().count());
            read.fetch_add(1, Ordering::Relaxed);
        }
    };
    std::thread::scope(|scope| {
        WRITERS.iter().for_each(|writer| drop(scope.spawn(|| guarded(&|| write(writer)))));
        (0..4).for_each(|reader| drop(scope.spawn(move || guarded(&|| reading(reader)))));
    });
    assert_eq!(store.list().len(), WRITERS.len());
    println!(
        "in {seconds} s: {written:?} runs written, {read:?} read whole, {replaced:?} replaced while they were read"
    );
}
