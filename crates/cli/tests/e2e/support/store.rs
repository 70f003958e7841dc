//! A store of any kind, with the folder of a test.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::bucket::BucketServer;
use super::command::{Done, done, finish, perfpipe, wait_for};
use super::values::text;
use crate::postgres::{TestServer, psql};

/// A fresh store of any kind, and a folder for the test's files; both go with it.
pub(crate) struct Store {
    /// The flag and its value that name the store.
    pub(crate) flag: [String; 2],
    pub(crate) folder: tempfile::TempDir,
    /// What a bucket needs to know, by the names of environment variables.
    pub(crate) environment: Vec<(&'static str, String)>,
}

impl Store {
    /// The store that this flag and its value name, with a folder of its own for the test.
    pub(crate) fn at(flag: [String; 2]) -> Self {
        Self { flag, folder: tempfile::tempdir().unwrap(), environment: Vec::new() }
    }

    /// A folder of Parquet files.
    pub(crate) fn embedded() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        Self { flag: ["--store".into(), path.to_str().unwrap().into()], folder, environment: Vec::new() }
    }

    /// A database; `None` where there is no Postgres.
    pub(crate) fn database() -> Option<Self> {
        let url = TestServer::shared()?.database();
        let flag = ["--database".into(), url];
        Some(Self::at(flag))
    }

    /// The tables of a bucket in a folder.
    pub(crate) fn lake() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("file://{}/a lake/store", folder.path().display());
        Self { flag: ["--store".into(), url], folder, environment: Vec::new() }
    }

    /// A bucket; `None` where there is no server for one.
    pub(crate) fn bucket() -> Option<Self> {
        let server = BucketServer::shared()?;
        let flag = ["--store".into(), format!("{}://{}/runs", server.scheme(), server.new_bucket())];
        Some(Self { environment: server.environment(), ..Self::at(flag) })
    }

    /// Each kind of place for tables of Delta Lake that can be had here.
    pub(crate) fn lakes() -> Vec<Self> {
        std::iter::once(Self::lake()).chain(Self::bucket()).collect()
    }

    /// One of each kind that can be had here.
    pub(crate) fn each() -> Vec<Self> {
        std::iter::once(Self::embedded()).chain(Self::database()).collect()
    }

    /// The database's URL or the folder's path.
    pub(crate) fn place(&self) -> &str {
        &self.flag[1]
    }

    /// What the environment of its commands says of its bucket.
    #[allow(dead_code, reason = "for the trials of faults alone")]
    pub(crate) fn settings(&self) -> Vec<(String, String)> {
        self.environment.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
    }

    pub(crate) fn is_database(&self) -> bool {
        self.flag[0] == "--database"
    }

    /// True for a database on a Citus cluster.
    pub(crate) fn is_cluster(&self) -> bool {
        self.is_database() && TestServer::shared().is_some_and(TestServer::is_cluster)
    }

    /// The command on this store, run in a folder of the test's own.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = perfpipe();
        command.args(arguments).current_dir(self.folder.path());
        command.env("XDG_CACHE_HOME", self.folder.path().join("caches"));
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        // An inspection opens no store, and takes none.
        if arguments.first() != Some(&"inspect") {
            command.args(&self.flag);
        }
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Done {
        done(&mut self.command(arguments))
    }

    /// Runs the command with this on its standard input.
    pub(crate) fn pipe(&self, input: &[u8], arguments: &[&str]) -> Done {
        let mut child = self.spawn(arguments);
        let mut stdin = child.stdin.take().unwrap();
        std::thread::scope(|scope| {
            // A command that refuses the input may end before it has read it all.
            scope.spawn(move || _ = stdin.write_all(input));
            finish(child)
        })
    }

    /// Starts the command with pipes at all its ends.
    pub(crate) fn spawn(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Writes a file into the test's folder.
    pub(crate) fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Sets a text of all runs' rows, as an earlier version or another time would have.
    pub(crate) fn set(&self, column: &str, value: &str) {
        if self.is_database() {
            psql(self.place(), &format!("update perfpipe.runs set {column} = '{value}'"));
            return;
        }
        for run in std::fs::read_dir(Path::new(self.place()).join("runs")).unwrap() {
            let path = run.unwrap().path().join("manifest.json");
            let text = std::fs::read_to_string(&path).unwrap();
            let manifest: Value = serde_json::from_str(&text).unwrap();
            let line = |value: &str| format!("\"{column}\":\"{value}\"");
            // The checksum is of the run's own text.
            let begin = text.find("\"run\":").unwrap() + "\"run\":".len();
            let own = text[begin..text.rfind('}').unwrap()].trim_end();
            let own = own.replace(&line(super::values::text(&manifest["run"], column)), &line(value));
            let (layout, crc32) = (&manifest["layout"], crc32fast::hash(own.as_bytes()));
            let sealed = format!("{{\"layout\": {layout}, \"crc32\": {crc32}, \"run\": {own}}}");
            std::fs::write(&path, sealed).unwrap();
        }
    }

    /// The runs that are stored, as `list` tells them; none where no store was ever made.
    pub(crate) fn list(&self) -> Vec<Value> {
        let is_folder = !self.is_database() && !self.place().contains("://");
        if is_folder && !Path::new(self.place()).join("perfpipe.json").exists() {
            return Vec::new();
        }
        self.run(&["list", "--format", "json"]).rows()
    }

    /// What there is in the store that belongs to no run: staged folders and old generations, stray tables and rows.
    pub(crate) fn leftovers(&self) -> Vec<String> {
        if self.is_database() {
            if psql(self.place(), "select to_regnamespace('perfpipe')").is_empty() {
                return Vec::new();
            }
            return psql(self.place(), STRAY).lines().map(str::to_owned).collect();
        }
        let entries = |folder: &Path| -> Vec<PathBuf> {
            std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
        };
        let root = Path::new(self.place());
        let new = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with(".new-");
        let mut stray = entries(&root.join("staging"));
        stray.extend(entries(root).into_iter().filter(new));
        for run in entries(&root.join("runs")) {
            let parts = entries(&run);
            stray.extend(parts.iter().filter(|path| new(path)).cloned());
            let generations = parts.into_iter().filter(|path| path.is_dir());
            match run.join("manifest.json").is_file() {
                true => stray.extend(generations.skip(1)),
                false => stray.push(run),
            }
        }
        stray.iter().map(|path| path.display().to_string()).collect()
    }

    /// How many writers are at work in the store; where it is a folder, those that were killed count too.
    pub(crate) fn writers(&self) -> usize {
        if self.is_database() {
            let sql = "select count(*) from pg_stat_activity
                       where datname = current_database() and pid <> pg_backend_pid()
                         and backend_type = 'client backend' and application_name not like 'citus%'";
            psql(self.place(), sql).parse().unwrap()
        } else {
            self.leftovers().len()
        }
    }

    /// Waits until the server has seen its killed clients go: until then one may be committing.
    pub(crate) fn wait_for_killed_writers(&self) {
        if self.is_database() {
            wait_for("the server has seen its clients go", || self.writers() == 0);
        }
    }

    /// The keys of the runs that are stored, as `framework test`.
    pub(crate) fn keys(&self) -> Vec<String> {
        let key = |run: &Value| format!("{} {}", text(run, "framework"), text(run, "test"));
        self.list().iter().map(key).collect()
    }

    /// The key of the only run.
    pub(crate) fn only_key(&self) -> Key {
        let runs = self.list();
        assert_eq!(runs.len(), 1, "{runs:?}");
        Key::new(text(&runs[0], "framework"), text(&runs[0], "test"))
    }

    /// An export of a run, by what it is of, its format and further flags.
    pub(crate) fn export(&self, key: &Key, what: &str, format: &str, flags: &[&str]) -> String {
        let run = ["export", "--framework", &key.framework, "--test", &key.test];
        self.run(&[&run[..], &["--what", what, "--format", format], flags].concat()).text()
    }

    /// The samples of a run, in the order of the log.
    pub(crate) fn samples(&self, key: &Key, flags: &[&str]) -> Vec<csv::StringRecord> {
        let csv = self.export(key, "samples", "csv", flags);
        // No field of a sample but the label can hold a line break: records are told apart by a reader.
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(csv.as_bytes());
        reader.records().map(Result::unwrap).collect()
    }

    /// The one row of a run's summary.
    pub(crate) fn summary(&self, key: &Key, flags: &[&str]) -> Value {
        let rows: Value = serde_json::from_str(&self.export(key, "summary", "json", flags)).unwrap();
        assert_eq!(rows.as_array().unwrap().len(), 1);
        rows[0].clone()
    }
}

/// Relations of the schema that are neither the layout's nor a run's, and rows that belong to no run.
const STRAY: &str = "
  select relname from pg_class
  where relnamespace = 'perfpipe'::regnamespace and relkind in ('r', 'v', 'm', 'p')
    and relname not in ('layout', 'runs', 'seconds', 'cpu', 'errors', 'labels', 'rejects', 'series', 'elapsed_counts',
                        'per_second', 'parts', 'partfiles')
    and relname not in (select table_name from perfpipe.runs)
    and oid not in (select inhrelid from pg_inherits join pg_class as own on own.oid = inhparent
                    where own.relname in (select table_name from perfpipe.runs))
  union all
  -- The first column, by any name, tells the run in each layout.
  select 'seconds of run ' || run from perfpipe.seconds as s (run)
  where run not in (select run from perfpipe.runs as r (run))";

/// A run's key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) framework: String,
    pub(crate) test: String,
}

impl Key {
    pub(crate) fn new(framework: &str, test: &str) -> Self {
        Self { framework: framework.into(), test: test.into() }
    }
}
