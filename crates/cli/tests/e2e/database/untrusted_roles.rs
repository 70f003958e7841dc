//! A role that may make functions, operators, tables and schemas in the database of a store, but nothing in the store:
//! none of its code runs in any command of somebody else.

use crate::postgres::{TestServer, psql};
use crate::support::*;

const LOG: &str = "Results-flaky-8181.csv";

/// A database in which mallory may make what he likes, and a table of the cases in which his code ran.
struct Scene {
    _server: TestServer,
    store: Store,
    mallory: Store,
}

impl Scene {
    /// The scene, the store being used by a superuser, for whom most is at stake.
    fn new() -> Option<Self> {
        let server = TestServer::start(None)?;
        let url = server.database();
        let name = psql(&url, "select current_database()");
        psql(
            &url,
            &format!(
                "create role mallory login; grant create on database {name} to mallory; \
                 grant all on schema public to mallory; create table public.caught (what text); \
                 grant all on public.caught to public"
            ),
        );
        let mallory = as_role(&url, "mallory");
        psql(mallory.place(), HARM);
        Some(Self { _server: server, store: as_role(&url, "postgres"), mallory })
    }

    fn superuser(&self, sql: &str) -> String {
        psql(self.store.place(), sql)
    }

    fn as_mallory(&self, sql: &str) {
        psql(self.mallory.place(), sql);
    }

    fn assert_nothing_ran(&self, when: &str) {
        assert_eq!(self.superuser("table public.caught"), "", "{when}");
    }
}

fn as_role(url: &str, role: &str) -> Store {
    let url = url.replacen("//postgres@", &format!("//{role}@"), 1);
    Store::at(["--database".into(), url])
}

/// Functions and operators of the names and arguments that perfpipe's statements use, exactly and nearly, which note
/// that they ran; where nothing may be written, that fails, and the command with it.
pub(crate) const HARM: &str = r#"
do $do$
declare
  schemas constant text[] := array['public', 'mallory'];
  it record;
  made int := 0;
  into_schema text;
begin
  create schema mallory;
  grant usage on schema mallory to public;
  foreach into_schema in array schemas loop
    for it in
      select p.proname::text as name, pg_get_function_identity_arguments(p.oid) as arguments,
        pg_get_function_result(p.oid) as result
      from pg_proc p where pronamespace = 'pg_catalog'::regnamespace and prokind = 'f' and proname in
        ('hashtextextended', 'set_config', 'current_setting', 'has_database_privilege', 'has_schema_privilege',
         'has_table_privilege', 'pg_is_in_recovery', 'pg_backend_pid', 'pg_total_relation_size', 'pg_get_serial_sequence', 'pg_sequence_last_value', 'pg_try_advisory_xact_lock',
         'pg_advisory_xact_lock', 'to_timestamp', 'now', 'pg_has_role', 'row_security_active',
         'pg_describe_object', 'upper', 'lower')
      union all
      values ('hashtextextended', 'text, integer', 'bigint'), ('to_timestamp', 'numeric', 'timestamptz'),
        ('has_database_privilege', 'name, text', 'boolean'), ('sum', 'bigint', 'bigint'),
        ('set_config', 'name, text, boolean', 'text'), ('unnest', 'integer[], integer[]', 'integer')
    loop
      execute format('create function %I.%I(%s) returns %s language plpgsql as %L', into_schema, it.name, it.arguments,
        it.result, 'begin insert into public.caught values (' || quote_literal(it.name) || '); '
        || case it.result when 'void' then '' else 'return null; ' end || 'end');
    end loop;
    for it in
      select oprname::text as name, format_type(oprleft, null) as l, format_type(oprright, null) as r,
        format_type(oprresult, null) as result
      from pg_operator where oprnamespace = 'pg_catalog'::regnamespace
        and oprname in ('=', '<>', '||', '/', '*', '<<', '|')
        and oprleft in ('text'::regtype, 'name'::regtype, 'oid'::regtype, 'int8'::regtype, 'int4'::regtype,
          'numeric'::regtype, '"char"'::regtype)
        and oprright in ('text'::regtype, 'name'::regtype, 'oid'::regtype, 'int8'::regtype, 'int4'::regtype,
          'numeric'::regtype, '"char"'::regtype)
      union all values ('/', 'bigint', 'numeric', 'numeric'), ('||', 'text', 'name', 'text')
    loop
      made := made + 1;
      execute format('create function %I.op_%s(%s, %s) returns %s language plpgsql as %L', into_schema, made, it.l,
        it.r, it.result, 'begin insert into public.caught values (' || quote_literal('operator ' || it.name)
        || '); return null; end');
      execute format('create operator %I.%s (leftarg = %s, rightarg = %s, function = %I.op_%s)', into_schema, it.name,
        it.l, it.r, into_schema, made);
    end loop;
  end loop;
  create domain public.bigint as text check (public.lower(value) is null);
  create table public.runs (run_id int);
  create table public.pg_class (oid int);
end
$do$"#;

/// Every command that uses a store, each with the flags that name it.
fn assert_commands_work(scene: &Scene) {
    let (store, other) = (&scene.store, Store::embedded());
    let (log, cpu) = (fixture(LOG), fixture("Results-flaky-8181.cpu.csv"));
    let (log, cpu) = (log.to_str().unwrap(), cpu.to_str().unwrap());
    let told = ["--framework", "go", "--test", "2048"];
    let exports = ["seconds", "samples", "errors", "labels", "summary", "cpu", "rejects"];
    let mut commands: Vec<Vec<&str>> = vec![
        [&["ingest", log], &told[..]].concat(),
        [&["ingest", log, "--replace"], &told[..]].concat(),
        [&["ingest", log, "--append-repeat"], &told[..]].concat(),
        vec!["list"],
        vec!["report", "--test", "2048", "--format", "svg"],
        vec!["check", "--test", "2048", "requests >= 1"],
        vec!["compare", "go_2048#1", "go_2048#2"],
        [&["diagnose", "--repeat", "1"], &told[..]].concat(),
        vec!["attach-cpu", "go_2048#1", cpu],
        vec!["copy", "--to", other.place()],
        vec!["copy", "go_2048", "--to", other.place(), "--replace"],
    ];
    commands.extend(
        exports.iter().map(|what| [&["export", "--repeat", "1", "--what", what], &told[..]].concat()),
    );
    let back = [other.flag.as_slice(), &["--to-database".into(), store.place().to_owned()]].concat();
    for arguments in &commands {
        let done = store.run(arguments);
        assert_eq!(done.code, Some(0), "{arguments:?}: {}", done.err);
        scene.assert_nothing_ran(arguments[0]);
    }
    let mut copy = perfpipe();
    let done = done(copy.args(["copy", "--replace"]).args(back).current_dir(other.folder.path()));
    assert_eq!(done.code, Some(0), "{}", done.err);
    for repeat in ["1", "2"] {
        let done = store.run(&[&["drop", "--repeat", repeat], &told[..]].concat());
        assert_eq!(done.code, Some(0), "{}", done.err);
    }
    scene.assert_nothing_ran("copy and drop");
}

#[test]
fn functions_named_like_the_catalogue_s_never_run() {
    let Some(scene) = Scene::new() else { return };
    assert_commands_work(&scene);
}

#[test]
fn database_that_looks_elsewhere_first_changes_nothing() {
    let Some(scene) = Scene::new() else { return };
    let name = scene.superuser("select current_database()");
    scene.superuser(&format!("alter database {name} set search_path = mallory, public, pg_catalog"));
    assert_commands_work(&scene);
}

#[test]
fn migration_runs_nobodys_operators() {
    let Some(scene) = Scene::new() else { return };
    scene.superuser("create schema perfpipe");
    crate::database::migrate::make_layout_3(scene.store.place(), "postgres");
    let name = scene.superuser("select current_database()");
    scene.superuser(&format!("alter database {name} set search_path = mallory, public, pg_catalog"));
    for schema in ["mallory", "public"] {
        scene.as_mallory(&format!(
            "create function {schema}.key(jsonb, text) returns text language plpgsql as \
             $$ begin insert into public.caught values ('key'); return 'x'; end $$; \
             create operator {schema}.->> (leftarg = jsonb, rightarg = text, function = {schema}.key)"
        ));
    }
    ingest(&scene.store);
    scene.store.run(&["migrate", "--dry-run"]).said();
    scene.store.run(&["migrate"]).said();
    scene.assert_nothing_ran("migrate");
    ingest(&scene.store);
    assert_eq!(scene.superuser("select run from perfpipe.runs"), "go_2048");
}

/// Those that write to a store that has the run go_2048.
fn assert_writers_refused(scene: &Scene, parts: &[&str]) {
    let (log, cpu) = (fixture(LOG), fixture("Results-flaky-8181.cpu.csv"));
    let (log, cpu) = (log.to_str().unwrap(), cpu.to_str().unwrap());
    let other = Store::embedded();
    other.run(&["ingest", log, "--framework", "x", "--test", "y"]).said();
    let copy = ["copy", "--to-database", scene.store.place()];
    let refused = [
        scene.store.run(&["ingest", log, "--framework", "go", "--test", "2048"]),
        scene.store.run(&["ingest", log, "--framework", "go", "--test", "2048", "--no-samples"]),
        scene.store.run(&["attach-cpu", "go_2048", cpu]),
        scene.store.run(&["drop", "--framework", "go", "--test", "2048"]),
        other.run(&copy),
    ];
    for done in refused {
        let complaint = done.complaint(1);
        for part in parts {
            assert!(complaint.contains(part), "{part} is not in: {complaint}");
        }
        assert!(complaint.lines().count() >= 2, "no remedy: {complaint}");
    }
    scene.assert_nothing_ran("writing");
}

/// A trigger function of mallory's.
const TRAP: &str = "create function mallory.trap() returns trigger language plpgsql as \
     $$ begin insert into public.caught values ('trap'); return new; end $$";

fn ingest(store: &Store) {
    let log = fixture(LOG);
    store.run(&["ingest", log.to_str().unwrap(), "--framework", "go", "--test", "2048"]).said();
}

#[test]
fn store_that_another_role_made_is_read_and_not_written_to() {
    let Some(scene) = Scene::new() else { return };
    ingest(&scene.mallory);
    scene.as_mallory(TRAP);
    scene.as_mallory(
        "create trigger trap before insert or delete on perfpipe.runs execute function mallory.trap()",
    );
    assert_writers_refused(&scene, &["role mallory", "role=mallory"]);
    assert_eq!(scene.store.keys(), ["go 2048"]);
    // Whoever chooses to be that role is no worse off than he.
    let mut as_he = scene.store.command(&["list"]);
    assert_eq!(done(as_he.env("PGOPTIONS", "-c role=mallory")).code, Some(0));
}

#[test]
fn schema_that_another_role_made_is_not_filled() {
    let Some(scene) = Scene::new() else { return };
    scene.as_mallory("create schema perfpipe");
    let log = fixture(LOG);
    let complaint = scene.store.run(&["ingest", log.to_str().unwrap()]).complaint(1);
    assert_told(&complaint, &["schema perfpipe", "role mallory"]);
    assert!(scene.store.list().is_empty());
    assert_eq!(scene.superuser("select count(*) from pg_tables where schemaname = 'perfpipe'"), "0");
}

#[test]
fn triggers_and_rules_on_the_tables_stop_every_writer() {
    let Some(scene) = Scene::new() else { return };
    ingest(&scene.store);
    scene.superuser("grant usage on schema perfpipe to mallory; grant trigger, references on all tables in schema perfpipe to mallory");
    scene.as_mallory(TRAP);
    for (made, undone, part) in [
        (
            "create trigger trap before insert or delete on perfpipe.runs execute function mallory.trap()",
            "drop trigger trap on perfpipe.runs",
            "trigger trap",
        ),
        (
            "create table mallory.behind (run text references perfpipe.runs on delete cascade); \
             create trigger trap after delete on mallory.behind execute function mallory.trap()",
            "drop table mallory.behind",
            "table mallory.behind",
        ),
        (
            "create rule trap as on insert to perfpipe.cpu do also insert into public.caught values ('rule')",
            "drop rule trap on perfpipe.cpu",
            "rule trap",
        ),
        (
            "create table mallory.child () inherits (perfpipe.seconds)",
            "drop table mallory.child",
            "mallory.child",
        ),
        (
            "create function mallory.yes() returns boolean language sql as 'select true'; \
             alter table perfpipe.labels add constraint trap check (mallory.yes())",
            "alter table perfpipe.labels drop constraint trap; drop function mallory.yes()",
            "mallory.yes()",
        ),
    ] {
        match made.contains("to perfpipe.cpu") || made.contains("inherits") || made.contains("labels") {
            true => drop(scene.superuser(made)),
            false => scene.as_mallory(made),
        }
        assert_writers_refused(&scene, &[part]);
        scene.superuser(undone);
    }
    ingest(&scene.store);
}

#[test]
fn relations_that_are_no_tables_are_not_read() {
    let Some(scene) = Scene::new() else { return };
    ingest(&scene.mallory);
    scene.as_mallory(
        "create function mallory.see(bigint) returns bigint language plpgsql as \
         $$ begin insert into public.caught values ('view'); return $1; end $$; \
         alter table perfpipe.runs rename to runs_of_old; \
         create view perfpipe.runs as select *, mallory.see(generation) as seen from perfpipe.runs_of_old",
    );
    for arguments in [&["list"][..], &["report", "--test", "2048", "--format", "svg"]] {
        let complaint = scene.store.run(arguments).complaint(1);
        assert!(complaint.contains("another kind of relation"), "{complaint}");
    }
    scene.assert_nothing_ran("reading");
}
