//! Databases of an older layout: used as they are, and migrated whole or not at all.

use crate::postgres::{TestServer, psql, psql_command};
use crate::support::*;

/// A role's way to a database.
fn as_role(url: &str, role: &str) -> Store {
    let url = url.replacen("//postgres@", &format!("//{role}@"), 1);
    Store::at(["--database".into(), url])
}

/// Makes the tables of layout 3 as the version before layout 4 made them.
pub(crate) fn make_layout_3(url: &str, role: &str) {
    let sql = std::fs::read_to_string(fixture("stores/layout-3.sql")).unwrap();
    psql(url, &format!("begin; set local search_path = pg_catalog; set local role {role}; {sql}; commit"));
}

/// A database of layout 3 without runs.
fn layout_3() -> Option<Store> {
    let store = Store::database()?;
    psql(store.place(), "create schema perfpipe");
    make_layout_3(store.place(), "postgres");
    Some(store)
}

/// The same with runs of every kind; each as framework, test and repeat, and whether its samples are kept.
fn with_runs() -> Option<(Store, Vec<[&'static str; 4]>)> {
    let store = layout_3()?;
    let runs = [
        (["go", "2048", "1", "yes"], &["distributed.csv", "distributed.cpu.csv"][..]),
        (["go", "2048", "2", "yes"], &["crlf.csv"]),
        (["go", "counts", "1", ""], &["tab.jtl", "--no-samples"]),
        (["go", "rejects", "1", "yes"], &["bad/numbers.csv"]),
        (["a_b", "c", "1", "yes"], &["transactions.csv"]),
        (["a", "b_c", "1", "yes"], &["two-headers.csv"]),
        (["x'\\\"; -- 配额", "b#2 %5F", "7", "yes"], &["outage.csv.zip", "outage.cpu.csv"]),
    ];
    for ([framework, test, repeat, _], arguments) in &runs {
        let mut all = ["ingest", "--framework", framework, "--test", test, "--repeat", repeat]
            .map(String::from)
            .to_vec();
        all.extend(arguments.iter().map(|argument| match argument.starts_with("--") {
            true => (*argument).to_owned(),
            false => fixture(argument).to_str().unwrap().to_owned(),
        }));
        store.run(&all.iter().map(String::as_str).collect::<Vec<_>>()).said();
    }
    let keys = runs.map(|(key, _)| key).to_vec();
    assert_eq!(version(&store), "3");
    Some((store, keys))
}

fn version(store: &Store) -> String {
    psql(store.place(), "select version from perfpipe.layout")
}

/// Every export of every run, and the list of them.
fn told(store: &Store, keys: &[[&str; 4]]) -> Vec<String> {
    let of = |[framework, test, repeat, samples]: &[&str; 4]| {
        let key = ["--framework", framework, "--test", test, "--repeat", repeat];
        crate::stores::determinism::exports(store, &key, !samples.is_empty())
    };
    let list = store.run(&["list", "--format", "json"]).text();
    keys.iter().flat_map(of).chain([list]).collect()
}

/// The tables of the schema, but for those of samples: columns, constraints, indexes, comments and views.
const SHAPE: &str = "
  with ours as (
    select c.* from pg_class c where relnamespace = 'perfpipe'::regnamespace and relname in
      ('layout', 'runs', 'seconds', 'cpu', 'errors', 'labels', 'rejects', 'elapsed_counts', 'per_second')
  )
  select relname, row_number() over (partition by c.oid order by attnum), attname, atttypid::regtype, attnotnull,
    attstorage, attidentity, attgenerated, attcollation::regcollation, col_description(c.oid, attnum)
  from ours c join pg_attribute a on a.attrelid = c.oid where attnum > 0 and not attisdropped
  union all select c.relname, null, conname, null, null, null, null, null, null, pg_get_constraintdef(k.oid)
  from ours c join pg_constraint k on k.conrelid = c.oid
  union all select c.relname, null, null, null, null, null, null, null, null, pg_get_indexdef(indexrelid)
  from ours c join pg_index i on i.indrelid = c.oid
  union all select relname, null, null, null, null, null, null, null, null, pg_get_viewdef(oid) from ours where relkind = 'v'
  union all select relname, null, null, null, null, null, null, null, null, obj_description(oid) from ours
  order by 1, 2, 3, 10";

/// The tables of the schema as they are made, and a digest of the rows of each, samples included.
fn held(store: &Store) -> [String; 2] {
    let tables =
        "select string_agg(format('select %L, (select md5(string_agg(r::text, '' '' order by r::text))
                  from %s r)', relname, oid::regclass), ' union all ' order by relname)
                  from pg_class where relnamespace = 'perfpipe'::regnamespace and relkind = 'r'";
    let rows = psql(store.place(), &psql(store.place(), tables));
    [psql(store.place(), SHAPE), rows]
}

#[test]
fn every_figure_stays_and_the_tables_are_those_of_a_new_database() {
    let (Some((store, keys)), Some(new)) = (with_runs(), Store::database()) else { return };
    new.run(&["ingest", fixture("crlf.csv").to_str().unwrap()]).said();
    let before = told(&store, &keys);
    store.run(&["verify"]).text();
    let untouched = held(&store);
    let would = store.run(&["migrate", "--dry-run"]).said();
    for part in ["7 runs", "layout 3", "perfpipe.runs: 7 ", "perfpipe.seconds: "] {
        assert!(would.contains(part), "{part} is not in: {would}");
    }
    assert_eq!(held(&store), untouched);
    assert!(store.run(&["migrate"]).said().contains("layout 4"));
    assert_eq!((version(&store).as_str(), told(&store, &keys)), ("4", before));
    store.run(&["verify"]).text();
    assert!(store.run(&["migrate"]).said().contains("nothing to do"));
    assert_eq!(psql(store.place(), SHAPE), psql(new.place(), SHAPE));
    let texts = psql(store.place(), "select run from perfpipe.runs order by 1");
    let expected = "a%5Fb_c\na_b_c\ngo_2048\ngo_2048#2\ngo_counts\ngo_rejects\nx'\\\"; -- 配额_b%232 %255F#7";
    assert_eq!(texts, expected);
    let unlike = "select count(*) from perfpipe.per_second p full join (select run, second, sum(samples) as n
                  from perfpipe.seconds where not transaction group by 1, 2) s using (run, second)
                  where p.successes + p.failures is distinct from n";
    assert_eq!(psql(store.place(), unlike), "0");
    assert_written_to(&store, &keys);
}

/// Runs are replaced, copied and dropped as ever.
fn assert_written_to(store: &Store, keys: &[[&str; 4]]) {
    let last = "select max(generation) from perfpipe.runs";
    let before: i64 = psql(store.place(), last).parse().unwrap();
    let log = fixture("crlf.csv");
    for [framework, test, repeat, _] in keys {
        let told = ["--framework", framework, "--test", test, "--repeat", repeat];
        store.run(&[&["ingest", log.to_str().unwrap(), "--replace"], &told[..]].concat()).said();
    }
    assert!(psql(store.place(), last).parse::<i64>().unwrap() >= before + keys.len() as i64);
    let other = Store::embedded();
    store.run(&["copy", "--to", other.place()]).said();
    store.run(&["verify"]).text();
    assert_eq!(store.list().len(), keys.len());
    for [framework, test, repeat, _] in keys {
        store.run(&["drop", "--framework", framework, "--test", test, "--repeat", repeat]).said();
    }
    assert!(store.list().is_empty());
    assert_eq!(store.leftovers(), [""; 0]);
    assert_eq!(psql(store.place(), "select count(*) from perfpipe.seconds"), "0");
}

#[test]
fn stores_of_earlier_builds_are_migrated() {
    let Some(store) = Store::database() else { return };
    let restored = psql_command(store.place()).arg("-f").arg(fixture("stores/2c4bb3d.sql")).output().unwrap();
    assert!(restored.status.success());
    let keys = [
        ["go", "2048", "1", "yes"],
        ["Go", "API", "1", "yes"],
        ["go", "counts", "1", ""],
        ["go", "partial", "1", "yes"],
    ];
    let before = told(&store, &keys);
    store.run(&["migrate"]).said();
    assert_eq!(told(&store, &keys), before);
    store.run(&["verify"]).text();
}

#[test]
fn folder_and_an_empty_database_need_no_migration() {
    let folder = Store::embedded();
    folder.run(&["ingest", fixture("crlf.csv").to_str().unwrap()]).said();
    for store in std::iter::once(folder).chain(Store::database()) {
        assert!(store.run(&["migrate"]).said().contains("nothing to do"));
    }
}

/// A session that stops a migration just before its end, until it is ended.
fn stopper(store: &Store) -> std::process::Child {
    let sql = "begin; comment on schema perfpipe is 'held'; select pg_sleep(100)";
    let child = psql_command(store.place()).args(["-c", sql]).env("PGAPPNAME", "stopper").spawn().unwrap();
    let held = "select count(*) from pg_locks where locktype = 'object' and mode = 'ShareUpdateExclusiveLock'
                and granted and database = (select oid from pg_database where datname = current_database())";
    wait_for("the schema is held", || psql(store.place(), held) != "0");
    child
}

const STOPPED: &str = "from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
                       and query like '%alter table%'";

#[test]
fn migration_killed_just_before_its_end_leaves_the_database_as_it_was() {
    let Some((store, keys)) = with_runs() else { return };
    let (before, untouched) = (told(&store, &keys), held(&store));
    for terminated in [true, false] {
        let mut stopper = stopper(&store);
        let mut child = store.spawn(&["migrate"]);
        wait_for("the migration waits", || psql(store.place(), &format!("select count(*) {STOPPED}")) == "1");
        if terminated {
            psql(store.place(), &format!("select pg_terminate_backend(pid) {STOPPED}"));
            let complaint = finish(child).complaint(1);
            assert!(complaint.contains("the schema perfpipe"), "{complaint}");
        } else {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        psql(
            store.place(),
            "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'stopper'",
        );
        stopper.wait().unwrap();
        store.wait_for_killed_writers();
        assert_eq!(held(&store), untouched);
    }
    store.run(&["migrate"]).said();
    assert_eq!(told(&store, &keys), before);
}

#[test]
fn ingest_that_began_before_is_stored_in_the_new_layout() {
    let Some(store) = layout_3() else { return };
    let (store, before) = crate::interruptions::kills::store_with_run(store);
    let (child, stdin) =
        crate::interruptions::kills::ingest_that_waits(&store, crate::interruptions::kills::FLOWING);
    wait_for("samples flow", || crate::interruptions::kills::samples_are_stored(&store));
    store.run(&["migrate"]).said();
    assert_eq!(crate::interruptions::kills::exports(&store), before);
    drop(stdin);
    finish(child).said();
    assert_ne!(crate::interruptions::kills::exports(&store), before);
    store.run(&["verify"]).text();
    assert_eq!(store.leftovers(), [""; 0]);
}

#[test]
fn owner_alone_migrates_and_rights_stay_as_they_were() {
    let Some(server) = TestServer::start(None) else { return };
    let url = server.database();
    psql(
        &url,
        "create role owner login; create role ann login; create role stranger login;
         create schema perfpipe authorization owner; grant usage on schema perfpipe to ann",
    );
    make_layout_3(&url, "owner");
    psql(&url, "grant select on all tables in schema perfpipe to ann; create view public.mine as
                select framework, second, successes from perfpipe.per_second; grant select on public.mine to ann");
    let [owner, ann] = ["owner", "ann"].map(|role| as_role(&url, role));
    owner.run(&["ingest", fixture("crlf.csv").to_str().unwrap(), "--framework", "go", "--test", "t"]).said();
    psql(&url, "grant select on perfpipe.go_t to ann");
    let reads = |store: &Store| told(store, &[["go", "t", "1", "yes"]]);
    let before = reads(&ann);
    for arguments in [&["migrate"][..], &["migrate", "--dry-run"]] {
        let complaint = ann.run(arguments).complaint(1);
        assert_told(&complaint, &["role ann", "perfpipe.", "role owner"]);
    }
    as_role(&url, "stranger").run(&["migrate"]).complaint(1);
    let mine = psql(&url, "select * from public.mine order by 2 limit 3");
    psql(&url, "create view public.numbers as select run_id from perfpipe.runs");
    let complaint = owner.run(&["migrate"]).complaint(1);
    assert_told(&complaint, &["view public.numbers"]);
    assert_eq!((version(&owner).as_str(), reads(&ann)), ("3", before.clone()));
    psql(&url, "drop view public.numbers");
    owner.run(&["migrate"]).said();
    assert_eq!((version(&owner).as_str(), reads(&ann)), ("4", before));
    assert_eq!(psql(ann.place(), "select * from public.mine order by 2 limit 3"), mine);
    let owners =
        "select distinct relowner::regrole from pg_class where relnamespace = 'perfpipe'::regnamespace";
    assert_eq!(psql(&url, owners), "owner");
}

#[test]
fn migration_waits_for_readers_and_others_read_meanwhile() {
    let Some(store) = layout_3() else { return };
    let (store, before) = crate::interruptions::kills::store_with_run(store);
    let reader = "begin; lock table perfpipe.runs in access share mode; select pg_sleep(100)";
    let mut reader =
        psql_command(store.place()).args(["-c", reader]).env("PGAPPNAME", "reader").spawn().unwrap();
    let held = "select count(*) from pg_locks where relation = 'perfpipe.runs'::regclass and granted";
    wait_for("the reader reads", || psql(store.place(), held) == "1");
    let child = store.spawn(&["migrate"]);
    wait_for("the migration waits", || psql(store.place(), &held.replace("granted", "not granted")) == "1");
    assert_eq!(crate::interruptions::kills::exports(&store), before, "others read meanwhile");
    psql(
        store.place(),
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'reader'",
    );
    reader.wait().unwrap();
    finish(child).said();
    assert_eq!(crate::interruptions::kills::exports(&store), before);
}
