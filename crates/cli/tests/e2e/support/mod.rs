//! What the tests share: the command, the kinds of store, the fixtures and what they must hold.

mod bucket;
mod command;
mod fixtures;
mod monitor;
mod store;
mod values;

pub(crate) use self::bucket::{BucketServer, bucket_environment};
pub(crate) use self::command::{Done, Watch, assert_told, done, finish, perfpipe, read_by, signal, wait_for};
pub(crate) use self::fixtures::{Fixture, endless_log, fixture};
pub(crate) use self::monitor::{Asked, EXPIRED, Monitor, Prometheus, Reply, TOKEN, Zabbix, prometheus};
pub(crate) use self::store::{Key, Store};
pub(crate) use self::values::{count, header, rows, text};
