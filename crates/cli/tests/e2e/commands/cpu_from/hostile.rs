//! Roles that make objects in Zabbix's database, and hosts that repeat what they were sent.

use std::process::Command;

use serde_json::json;

use super::database::{self, Zabbix as Database};
use super::{ingest, readings, zabbix_url};
use crate::database::untrusted_roles::HARM;
use crate::support::*;

/// Operators and functions of the types of Zabbix's columns, which note that they ran.
const HARM_TO_TEXTS: &str = r"
do $do$
declare
  into_schema text;
  operator text;
  made int := 0;
begin
  foreach into_schema in array array['public', 'mallory'] loop
    foreach operator in array array['=', '~~', '<', '<=', '>='] loop
      made := made + 1;
      execute format('create function %I.text_%s(varchar, text) returns boolean language plpgsql as %L', into_schema, made,
        'begin insert into public.caught values (current_user); return true; end');
      execute format('create operator %I.%s (leftarg = varchar, rightarg = text, function = %I.text_%s)', into_schema,
        operator, into_schema, made);
      -- The others have been made of the types of numbers.
      continue when operator in ('=', '~~');
      execute format('create function %I.number_%s(int4, int8) returns boolean language plpgsql as %L', into_schema, made,
        'begin insert into public.caught values (current_user); return true; end');
      execute format('create operator %I.%s (leftarg = int4, rightarg = int8, function = %I.number_%s)', into_schema,
        operator, into_schema, made);
    end loop;
    execute format('create function %I.current_schemas(boolean) returns name[] language plpgsql as %L', into_schema,
      'begin insert into public.caught values (current_user); return null; end');
    execute format('create function %I.left(varchar, int) returns text language plpgsql as %L', into_schema,
      'begin insert into public.caught values (current_user); return null; end');
  end loop;
end
$do$";

/// A function of mallory's that fails where it runs with the rights of a reader.
const SPY: &str = "create function mallory.spy(bigint) returns bigint language plpgsql immutable as \
     $$ begin if current_user::text in ('guarded', 'postgres') then raise exception 'SPY ran as %', current_user; end if; \
        return $1; end $$; \
     grant execute on function mallory.spy(bigint) to public";

/// Zabbix's database, in which mallory may make objects. Its tables belong to the role zabbix, to which he belongs as well.
fn scene() -> Option<Database> {
    let zabbix = Database::start()?;
    zabbix.sql(
        "create role zabbix; create role mallory login in role zabbix; grant create on database zabbix to mallory; \
         grant create, usage on schema public to mallory, zabbix; create table public.caught (what text); \
         grant all on public.caught to public; \
         alter table hosts owner to zabbix; alter table items owner to zabbix; alter table history owner to zabbix; \
         alter table history_uint owner to zabbix; alter table trends owner to zabbix",
    );
    zabbix.sql_of("mallory", HARM);
    zabbix.sql_of("mallory", HARM_TO_TEXTS);
    zabbix.sql_of("mallory", SPY);
    zabbix.sql("alter database zabbix set search_path = mallory, public, pg_catalog");
    Some(zabbix)
}

const ASKED: &str = "host=sut&item=system.cpu.util";

/// Asks as a superuser, for whom most is at stake.
fn as_superuser(zabbix: &Database, store: &Store) -> Command {
    ingest(store, &zabbix.url(ASKED).replace("//guarded@", "//postgres@"), &[])
}

#[test]
fn operators_and_functions_of_other_roles_never_run_as_the_reader() {
    let Some(zabbix) = scene() else { return };
    for asked in [ASKED, "host=sut&item=CPU", "itemid=11", "host=other&item=a", "itemid=16"] {
        let store = Store::embedded();
        let url = zabbix.url(asked).replace("//guarded@", "//postgres@");
        let done = done(&mut ingest(&store, &url, &[]));
        let is_there = !["host=other&item=a", "itemid=16"].contains(&asked);
        assert_eq!(done.code == Some(0), is_there, "{asked}: {}", done.err);
        assert!(!done.err.contains("SPY"), "{}", done.err);
        assert_eq!(zabbix.sql("table public.caught"), "", "{asked}");
    }
    let store = Store::embedded();
    done(&mut zabbix.ingest(&store, ASKED, &[])).said();
    assert_eq!(readings(&store).len(), 121);
    assert_eq!(zabbix.sql("table public.caught"), "");
}

#[test]
fn tables_that_run_code_of_other_roles_are_refused_before_they_are_read() {
    let Some(zabbix) = scene() else { return };
    let store = Store::embedded();
    for (made, undone, told) in [
        (
            "create index trap on history ((clock + mallory.spy(1)))",
            "drop index trap",
            "calls the function mallory.spy(bigint)",
        ),
        (
            "create index trap on items (itemid) where mallory.spy(1) = itemid",
            "drop index trap",
            "calls the function mallory.spy(bigint)",
        ),
        (
            "alter table history add constraint trap check (mallory.spy(clock) > 0) not valid",
            "alter table history drop constraint trap",
            "calls the function mallory.spy(bigint)",
        ),
        (
            "create statistics trap on (mallory.spy(clock)), value from history",
            "drop statistics trap",
            "calls the function mallory.spy(bigint)",
        ),
        (
            "create table trap (check (mallory.spy(1) = 1)) inherits (history)",
            "drop table trap",
            "calls the function mallory.spy(bigint)",
        ),
        (
            "alter table hosts rename to plain; create view hosts as select mallory.spy(hostid) as hostid, host from plain",
            "drop view hosts; alter table plain rename to hosts",
            "hosts is no plain table",
        ),
        (
            "alter table hosts enable row level security; alter table hosts force row level security; \
             create policy trap on hosts using (mallory.spy(hostid) > 0)",
            "drop policy trap on hosts; alter table hosts no force row level security; \
             alter table hosts disable row level security",
            "row security",
        ),
        (
            "create type mallory.mood as enum ('sut'); \
             create function mallory.text(mallory.mood) returns text language plpgsql as \
               $$ begin raise exception 'SPY ran as %', current_user; end $$; \
             create cast (mallory.mood as text) with function mallory.text(mallory.mood); \
             alter table hosts rename to plain; create table hosts (hostid bigint, host mallory.mood); \
             insert into hosts values (1, 'sut')",
            "drop table hosts; alter table plain rename to hosts; drop type mallory.mood cascade",
            "the column host of hosts is of a type that is not PostgreSQL's own",
        ),
        (
            "create domain mallory.short as varchar(128) check (mallory.spy(1) = 1); \
             alter table hosts alter column host type mallory.short",
            "alter table hosts alter column host type varchar(128); drop domain mallory.short",
            "the column host of hosts is of a type that is not PostgreSQL's own",
        ),
        (
            "create table mallory.hosts (like public.hosts); create table mallory.items (like public.items)",
            "drop table mallory.hosts; drop table mallory.items",
            "in several schemas: mallory, public",
        ),
    ] {
        let grant = "grant select on all tables in schema public to guarded";
        let as_owner = |sql: &str| {
            zabbix.sql_of("mallory", &format!("set search_path = public; set role zabbix; {sql}"))
        };
        zabbix.sql("grant usage, create on schema mallory to zabbix");
        as_owner(made);
        zabbix.sql(grant);
        // Row security does not apply to a superuser.
        let mut commands = vec![zabbix.ingest(&store, ASKED, &[])];
        if told != "row security" {
            commands.push(as_superuser(&zabbix, &store));
        }
        for command in &mut commands {
            let done = done(command);
            assert!(matches!(done.code, Some(1..=3)) && done.err.contains(told), "{made}: {}", done.err);
            assert!(!done.err.contains("SPY") && store.list().is_empty(), "{made}: {}", done.err);
        }
        as_owner(undone);
        assert_eq!(zabbix.sql("table public.caught"), "", "{made}");
    }
    done(&mut zabbix.ingest(&store, ASKED, &[])).said();
    assert_eq!(zabbix.sql("table public.caught"), "");
}

/// What a host repeats of a request: each header and the body, in JSON.
fn repeated(asked: &Asked) -> String {
    format!("{} {} {}", asked.line, asked.authorization.as_deref().unwrap_or_default(), asked.body)
}

/// A password that looks otherwise in JSON, in a URL and in base64.
const PASSWORD: &str = "hünter2 \"geheim\"/+=";

/// `Admin:` and the password in base64.
const LOGIN: &str = "QWRtaW46aMO8bnRlcjIgImdlaGVpbSIvKz0=";

fn assert_hidden(text: &str) {
    for secret in [TOKEN, PASSWORD, "geheim", "nter2", LOGIN, &LOGIN[8..24], "Session0815Token"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
}

#[test]
fn secrets_that_a_host_repeats_are_never_printed() {
    let system = |name: &str| if name.starts_with("zabbix") { "ZABBIX" } else { "PROMETHEUS" };
    let of_zabbix =
        |text: &str| json!({"jsonrpc": "2.0", "error": {"code": 1, "message": text, "data": text}});
    for (url, logs_in) in [("zabbix", true), ("zabbix", false), ("prometheus", true), ("prometheus", false)] {
        for status in [200, 400, 401, 500] {
            let monitor = Monitor::new(move |asked| {
                let said = repeated(asked);
                let answer = match () {
                    () if asked.body.contains("apiinfo.version") => json!({"result": "6.0.1"}),
                    () if asked.body.contains("user.login") && status == 200 => {
                        json!({"result": "Session0815Token"})
                    }
                    () if url == "zabbix" => of_zabbix(&said),
                    () => json!({"status": "error", "errorType": "bad", "error": said}),
                };
                let status = if answer.get("result").is_some() { 200 } else { status };
                Reply::Text(status, format!("X-Said: {}\r\n", asked.line), answer.to_string())
            });
            let store = Store::embedded();
            let asked = if url == "zabbix" { "itemid=7" } else { "query=up" };
            let mut command = ingest(&store, &format!("{url}+http://{}?{asked}", monitor.host), &[]);
            let name = |what: &str| format!("PERFPIPE_{}_{what}", system(url));
            match logs_in {
                true => command.env(name("USER"), "Admin").env(name("PASSWORD"), PASSWORD),
                false => command.env(name("TOKEN"), TOKEN),
            };
            let done = done(&mut command);
            assert!(matches!(done.code, Some(1..=3)), "{url} {status}: {}", done.err);
            assert!(done.err.contains("(secret)") || status != 200, "{url} {status}: {}", done.err);
            assert_hidden(&done.err);
        }
    }
}

#[test]
fn secrets_that_a_host_puts_into_its_labels_are_never_stored() {
    let store = Store::embedded();
    let prometheus = Monitor::new(|asked| {
        if asked.line.contains("/query?") {
            return Reply::Text(404, String::new(), String::new());
        }
        let series = |value: &str| {
            let said = format!("{} {value}", asked.authorization.clone().unwrap_or_default());
            json!({"metric": {"host": said}, "values": [[super::T0, "1"], [super::T0 + 30, "2"]]})
        };
        let result = json!([series("a"), series("b")]);
        Reply::json(json!({"status": "success", "data": {"resultType": "matrix", "result": result}}))
    });
    let url = format!("prometheus+http://{}?query=up&several=sum", prometheus.host);
    let done = done(ingest(&store, &url, &[]).env("PERFPIPE_PROMETHEUS_TOKEN", TOKEN));
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert_hidden(&done.err);
    for what in ["run", "cpu", "summary"] {
        assert_hidden(&store.export(&Key::new("go", "t"), what, "json", &[]));
    }
    for entry in walk(store.folder.path()) {
        assert_hidden(&String::from_utf8_lossy(&std::fs::read(entry).unwrap()));
    }
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

#[test]
fn password_that_a_database_repeats_is_never_printed() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            std::thread::spawn(move || answer_as_postgres(client.unwrap()));
        }
    });
    let store = Store::embedded();
    let url = format!("zabbix-db+postgres://u@127.0.0.1:{port}/z?itemid=7&sslmode=disable");
    let asked = done(ingest(&store, &url, &[]).env("PGPASSWORD", database::SECRET));
    assert!(asked.code == Some(1) || asked.code == Some(3), "{}", asked.err);
    assert!(asked.err.contains("(secret)") && !asked.err.contains("geheim"), "{}", asked.err);
    let url = format!("postgres://u@127.0.0.1:{port}/z?sslmode=disable");
    let mut list = perfpipe();
    let listed = done(list.args(["list", "--database", &url]).env("PGPASSWORD", database::SECRET));
    assert!(listed.err.contains("(secret)") && !listed.err.contains("geheim"), "{}", listed.err);
}

/// Asks for the password as it is, and repeats it as an error.
fn answer_as_postgres(mut client: std::net::TcpStream) -> Option<()> {
    use std::io::{Read, Write};

    let message = |client: &mut std::net::TcpStream, is_typed: bool| {
        let mut head = [0; 5];
        let head = if is_typed { &mut head[..] } else { &mut head[..4] };
        client.read_exact(head).ok()?;
        let length = u32::from_be_bytes(head[head.len() - 4..].try_into().ok()?) as usize;
        let mut body = vec![0; length - 4];
        client.read_exact(&mut body).ok()?;
        Some(body)
    };
    message(&mut client, false)?;
    client.write_all(&[b'R', 0, 0, 0, 8, 0, 0, 0, 3]).ok()?;
    let password = message(&mut client, true)?;
    let password = String::from_utf8_lossy(&password).trim_end_matches('\0').to_owned();
    let body = format!("SFATAL\0VFATAL\0C28P01\0Mno {password} here\0Dof {password}\0\0");
    let length = (body.len() as u32 + 4).to_be_bytes();
    client.write_all(&[&b"E"[..], &length, body.as_bytes()].concat()).ok()
}

#[test]
fn message_of_a_database_that_is_too_long_is_an_error_before_it_is_read() {
    use std::io::Write;

    for kind in [b'R', b'E', b'S', b'D'] {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let sent = std::thread::spawn(move || {
            let (mut client, _) = listener.accept().unwrap();
            let head = [&[kind][..], &0x7fff_ffff_u32.to_be_bytes()].concat();
            client.write_all(&head).unwrap();
            let content = vec![0; 1 << 20];
            (0..2048).take_while(|_| client.write_all(&content).is_ok()).count()
        });
        let store = Store::embedded();
        let url = format!("zabbix-db+postgres://u@127.0.0.1:{port}/z?itemid=7&sslmode=disable");
        let asked = done(&mut ingest(&store, &url, &[]));
        assert!(asked.err.contains("a message of 2147483647 bytes"), "{}", asked.err);
        assert!(sent.join().unwrap() < 64, "the client went on reading");
    }
}

#[test]
fn secrets_that_no_header_can_hold_are_told_by_their_variables() {
    let monitor = Monitor::new(|_| Reply::Text(500, String::new(), String::new()));
    let store = Store::embedded();
    for (variable, value) in [
        ("PERFPIPE_ZABBIX_TOKEN", "geheim-0815\n"),
        ("PERFPIPE_ZABBIX_TOKEN", "geheim-08é15"),
        ("PERFPIPE_ZABBIX_TOKEN", "geheim-0815 x"),
        ("PERFPIPE_ZABBIX_PASSWORD", "geheim-0815\n"),
    ] {
        let mut command = ingest(&store, &zabbix_url(&monitor), &[]);
        let done = done(command.env("PERFPIPE_ZABBIX_USER", "Admin").env(variable, value));
        assert_eq!(done.code, Some(2), "{}", done.err);
        assert!(done.err.contains(variable) && !done.err.contains("0815"), "{}", done.err);
        assert_eq!(monitor.asked().len(), 0);
    }
    let file = store.file("token", "geheim-08é15");
    let mut command = ingest(&store, &zabbix_url(&monitor), &[]);
    let done = done(command.env("PERFPIPE_ZABBIX_TOKEN_FILE", file));
    assert!(done.err.contains("PERFPIPE_ZABBIX_TOKEN_FILE") && !done.err.contains("08"), "{}", done.err);
}

#[test]
fn passwords_in_addresses_are_refused_however_they_are_written() {
    let store = Store::embedded();
    let log = super::log(&store, 60);
    for asked in
        ["p%61ssword=hunter2", "password=&password=hunter2", "PASSWORD=hunter2", "%70%61%73%73word=hunter2"]
    {
        let url = format!("zabbix-db+postgres://reader@127.0.0.1:1/z?itemid=7&{asked}");
        let done = store.run(&["ingest", &log, "--framework", "go", "--test", "t", "--cpu-from", &url]);
        assert_eq!(done.code, Some(2), "{}", done.err);
        assert!(done.err.contains("password") && !done.err.contains("hunter2"), "{}", done.err);
    }
}
