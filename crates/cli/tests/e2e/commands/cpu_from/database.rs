//! Readings that are asked of Zabbix's own database.

use std::process::Command;

use super::{T0, around, ingest, readings};
use crate::postgres::{TestServer, Tls, psql};
use crate::support::*;

pub(super) const SECRET: &str = "hunter2-geheim";

const TLS: Tls = Tls {
    certificate: include_str!("../../../../../ingest/tests/support/tls/server.pem"),
    key: include_str!("../../../../../ingest/tests/support/tls/server.key"),
};

/// The tables that are read, as Zabbix 6.0 has them, with the columns that are of use here.
const TABLES: &str = "
    create table hosts (hostid bigint primary key, host varchar(128) not null default '');
    create table items (itemid bigint primary key, hostid bigint, name varchar(255) not null default '',
        key_ varchar(2048) not null default '', value_type integer not null default 0);
    create table history (itemid bigint, clock integer, value double precision, ns integer);
    create table history_uint (itemid bigint, clock integer, value numeric(20), ns integer);
    create table trends (itemid bigint, clock integer, num integer, value_avg double precision);
    create table trends_uint (itemid bigint, clock integer, num integer, value_avg numeric(20));
    insert into hosts values (1, 'sut'), (2, 'idle');
    insert into items values (11, 1, 'CPU', 'system.cpu.util', 0), (12, 1, 'cores', 'system.cpu.num', 3),
        (13, 1, 'twice', 'a', 0), (14, 1, 'twice', 'b', 0), (15, 1, 'agent', 'agent.version', 1),
        (16, 2, 'CPU', 'system.cpu.util', 0), (17, 1, 'use', 'use', 3);";

/// A server whose database `zabbix` is read by a role with a password.
pub(super) struct Zabbix {
    server: TestServer,
}

impl Zabbix {
    pub(super) fn start() -> Option<Self> {
        let server = TestServer::start(Some(TLS))?;
        server.psql(&format!("create role guarded login password '{SECRET}'"));
        server.psql("create database zabbix");
        let zabbix = Self { server };
        zabbix.sql(TABLES);
        let rows = |item: u32| {
            let row = |(clock, value): (i64, f64)| format!("({item}, {clock}, {value}, {})", clock % 1000);
            around().into_iter().map(row).collect::<Vec<_>>().join(",")
        };
        zabbix.sql(&format!("insert into history values {}", rows(11)));
        zabbix.sql(&format!("insert into history_uint values {}, (12, {T0}, 4, 0)", rows(17)));
        zabbix.sql(&format!("insert into trends values (16, {}, 60, 2.5)", T0 - T0 % 3600));
        zabbix.sql("grant select on hosts, items, history, history_uint, trends, trends_uint to guarded");
        Some(zabbix)
    }

    /// Runs statements as a superuser.
    pub(super) fn sql(&self, sql: &str) -> String {
        self.sql_of("postgres", sql)
    }

    /// Runs statements as a role.
    pub(super) fn sql_of(&self, role: &str, sql: &str) -> String {
        let url = self.server.url().replacen("//postgres@", &format!("//{role}@"), 1);
        psql(&format!("{}/zabbix", url.strip_suffix("/postgres").unwrap()), sql)
    }

    pub(super) fn url(&self, asked: &str) -> String {
        format!(
            "zabbix-db+postgres://guarded@127.0.0.1:{}/zabbix?sslmode=require&{asked}",
            self.server.port()
        )
    }

    pub(super) fn ingest(&self, store: &Store, asked: &str, flags: &[&str]) -> Command {
        let mut command = ingest(store, &self.url(asked), flags);
        command.env("PGPASSWORD", SECRET);
        command
    }
}

#[test]
fn readings_of_a_database_are_stored_as_those_of_the_api_are() {
    let Some(zabbix) = Zabbix::start() else { return };
    let asked: Vec<_> =
        around().into_iter().filter(|(clock, _)| (T0 - 60..=T0 + 60).contains(clock)).collect();
    let of_core = ["--cpu-scale", "percent-of-core"];
    let cases: [(&str, &[&str], f64); 4] = [
        ("itemid=11", &[], 4.0),
        ("host=sut&item=system.cpu.util", &["--cores", "2"], 2.0),
        ("host=sut&item=CPU", &of_core, 1.0),
        ("itemid=17", &of_core, 1.0),
    ];
    for (asked_for, flags, times) in cases {
        let store = Store::embedded();
        let said = done(&mut zabbix.ingest(&store, asked_for, flags)).said();
        assert!(said.contains("100.0 % of the seconds have a reading"), "{said}");
        let expected: Vec<_> = asked.iter().map(|(clock, value)| (*clock, value * times)).collect();
        assert_eq!(readings(&store), expected, "{asked_for}");
        let stored = store.export(&Key::new("go", "t"), "run", "json", &[]);
        assert!(stored.contains("zabbix-db+postgres") && !stored.contains(SECRET), "{stored}");
    }
}

#[test]
fn faults_of_a_database_are_told_and_the_earlier_run_stays() {
    let Some(zabbix) = Zabbix::start() else { return };
    let store = Store::embedded();
    done(&mut zabbix.ingest(&store, "itemid=11", &[])).said();
    let before = store.list();
    let refused = |told: &str, command: &mut Command| {
        let outcome = done(command);
        let err = &outcome.err;
        assert!(matches!(outcome.code, Some(1..=3)) && err.contains(told), "{told}: {err}");
        assert!(err.lines().any(|line| line.starts_with("  ")), "no remedy: {err}");
        assert!(!err.contains(SECRET) && !err.contains("panicked"), "{err}");
        assert_eq!(store.list(), before, "{told}");
    };
    for (told, asked) in [
        ("no host \"other\"", "host=other&item=a"),
        ("no item with the key", "host=sut&item=none"),
        ("several such items: 13 (a), 14 (b)", "host=sut&item=twice"),
        ("there is no such item", "itemid=99"),
        ("has texts, not numbers", "itemid=15"),
        ("only trends", "itemid=16"),
        ("has no readings from", "itemid=13"),
    ] {
        refused(told, &mut zabbix.ingest(&store, asked, &[]));
    }
    for (offset, told) in [("36000", "10 h behind, add -36000 to"), ("-36000", "the latest before it is of")]
    {
        refused(told, &mut zabbix.ingest(&store, "itemid=11", &["--cpu-offset", offset]));
    }
    refused(
        "password authentication failed",
        zabbix.ingest(&store, "itemid=11", &[]).env("PGPASSWORD", "no"),
    );
    refused("PGPASSWORD", zabbix.ingest(&store, "itemid=11", &[]).env_remove("PGPASSWORD"));
    let untrusted = zabbix.url("itemid=11").replace("=require", "=verify-full");
    refused("certificate", ingest(&store, &untrusted, &[]).env("PGPASSWORD", SECRET));
    zabbix.sql("revoke select on history from guarded");
    refused("permission denied for table history", &mut zabbix.ingest(&store, "itemid=11", &[]));
    zabbix.sql("drop table items");
    refused("can't be read as a database of Zabbix", &mut zabbix.ingest(&store, "itemid=11", &[]));
    let secret = zabbix.url("itemid=11").replace("guarded@", &format!("guarded:{SECRET}@"));
    refused("contains a password, which is not allowed there", &mut ingest(&store, &secret, &[]));
}
