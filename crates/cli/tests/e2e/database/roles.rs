//! The roles of docs/reference/roles.md: one that ingests and one that reads, made by its very SQL, and what each may do.

use crate::postgres::{TestServer, psql, psql_command};
use crate::support::*;

/// The SQL of the page on roles.
fn sql() -> String {
    let page = std::fs::read_to_string(fixture("../docs/reference/roles.md")).unwrap();
    let (_, sql) = page.split_once("```sql\n").unwrap();
    sql.split_once("```").unwrap().0.to_owned()
}

/// The same store for another role.
fn as_role(url: &str, role: &str) -> Store {
    let url = url.replacen("//postgres@", &format!("//{role}@"), 1);
    Store::at(["--database".into(), url])
}

fn ingest<'a>(log: &'a str, framework: &'a str) -> [&'a str; 6] {
    ["ingest", log, "--framework", framework, "--test", "2048"]
}

const DROP: [&str; 5] = ["drop", "--framework", "go", "--test", "2048"];

fn assert_reads(store: &Store) {
    assert_eq!(store.keys(), ["go 2048", "nio 2048"]);
    for framework in ["go", "nio"] {
        let key = Key::new(framework, "2048");
        for what in ["seconds", "samples", "errors", "labels", "summary", "cpu", "rejects"] {
            store.export(&key, what, "csv", &[]);
        }
        psql(store.place(), &format!("select count(*) from perfpipe.{framework}_2048"));
    }
    psql(store.place(), "select count(*) from perfpipe.elapsed_counts, perfpipe.per_second");
    store.run(&["report", "--test", "2048", "--format", "svg"]).text();
}

#[test]
fn roles_of_their_page_may_do_what_it_says_and_nothing_else() {
    let Some(server) = TestServer::start(None) else { return };
    let url = server.database();
    psql(&url, &sql());
    // Another one who ingests, as the page has the first.
    psql(
        &url,
        "create role bob login in role perfpipe_ingester; alter role bob set role = 'perfpipe_ingester'",
    );
    let [ci, bob, ann] = ["ci", "bob", "ann"].map(|role| as_role(&url, role));
    assert!(ann.list().is_empty());
    let [log, other] =
        ["Results-flaky-8181.csv", "crlf.csv"].map(|log| fixture(log).to_str().unwrap().to_owned());
    for (store, log, framework) in [(&ci, &log, "nio"), (&bob, &log, "go"), (&bob, &other, "nio")] {
        store.run(&ingest(log, framework)).said();
    }
    [&ci, &bob, &ann].into_iter().for_each(assert_reads);
    assert_only_reads(&ann, &log);
    ci.run(&DROP).said();
    assert_eq!(ann.keys(), ["nio 2048"]);
    assert_eq!(ci.leftovers(), Vec::<String>::new());
}

/// The role changes nothing, and is told what it lacks.
fn assert_only_reads(ann: &Store, log: &str) {
    let counts = [&ingest(log, "go")[..], &["--no-samples"]].concat();
    for arguments in [&ingest(log, "go")[..], &ingest(log, "new"), &counts, &DROP] {
        let complaint = ann.run(arguments).complaint(1);
        assert_told(&complaint, &["role ann", "schema perfpipe", "docs/reference/roles.md"]);
    }
    assert_reads(ann);
}

#[test]
fn role_without_grants_is_told_which_it_needs() {
    let Some(server) = TestServer::start(None) else { return };
    let url = server.database();
    psql(&url, "create role \"o'dd \"\"one\" login; create role ann login");
    let odd = as_role(&url, "o'dd%20%22one");
    let log = fixture("crlf.csv");
    let log = log.to_str().unwrap();
    let complaint = odd.run(&ingest(log, "nio")).complaint(1);
    let grant = r#"create schema perfpipe authorization "o'dd ""one""#;
    assert!(
        complaint.contains("may not make the schema perfpipe") && complaint.contains(grant),
        "{complaint}"
    );
    psql(&url, grant);
    odd.run(&ingest(log, "nio")).said();
    let complaint = as_role(&url, "ann").run(&["list"]).complaint(1);
    assert_told(&complaint, &["schema perfpipe", "docs/reference/roles.md"]);
}

#[test]
fn role_that_may_not_add_the_columns_that_an_old_store_lacks_is_told_who_may() {
    let Some(server) = TestServer::start(None) else { return };
    let url = server.database();
    let restored = psql_command(&url).arg("-f").arg(fixture("stores/2c4bb3d.sql")).output().unwrap();
    assert!(restored.status.success(), "{}", String::from_utf8_lossy(&restored.stderr));
    psql(
        &url,
        "create role ann login; grant usage, create on schema perfpipe to ann; \
         grant all on all tables in schema perfpipe to ann; grant all on all sequences in schema perfpipe to ann",
    );
    let ann = as_role(&url, "ann");
    let before = ann.keys();
    let log = fixture("crlf.csv");
    let complaint = ann.run(&ingest(log.to_str().unwrap(), "nio")).complaint(1);
    assert!(complaint.contains("this role may not add the columns that its tables lack"), "{complaint}");
    let (_, sql) = complaint.split_once("or run: ").unwrap();
    let (sql, _) = sql.split_once(".\n").unwrap_or((sql, ""));
    assert_eq!(ann.keys(), before, "what is there is read all the same");
    psql(&url, sql.trim_end().trim_end_matches('.'));
    ann.run(&ingest(log.to_str().unwrap(), "nio")).said();
    assert_eq!(ann.keys().len(), before.len() + 1);
}
