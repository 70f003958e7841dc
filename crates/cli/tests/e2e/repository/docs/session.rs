//! The folder, the programs and the server that the blocks of a page find, and how a block is run there.

use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::block::{self, Block};
use super::expected::{matches, renewed};
use crate::postgres::TestServer;
use crate::support::Watch;

/// The database that the pages name.
pub(super) const DATABASE: &str = "load";

/// What a command came to.
pub(super) struct Done {
    pub(super) code: Option<i32>,
    out: String,
    pub(super) err: String,
}

/// Where the blocks of a page are run.
pub(super) struct Session<'a> {
    pub(super) folder: &'a Path,
    pub(super) server: Option<&'a TestServer>,
}

impl Session<'_> {
    /// Runs a block; gives its lines as they should be, and what else is wrong with it.
    pub(super) fn block(&self, block: &Block, printed: &mut String) -> (Vec<String>, Option<String>) {
        let unchanged = block.lines.clone();
        match &*block.language {
            _ if block.has("output") => return (renewed(&block.lines, &lines(printed)), None),
            _ if block.value("file").is_some() => {
                std::fs::write(self.folder.join(block.value("file").unwrap()), block.text()).unwrap();
            }
            "console" => return self.console(block),
            "sh" => {
                let done = run(self.shell("sh", &format!("set -e\n{}", block.text())));
                *printed = done.out.clone();
                return (unchanged, done.unlike(block.exit()));
            }
            "sql" => {
                let mut psql = self.command("psql");
                psql.args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-P", "pager=off", "-f", "-"]);
                let done = run((psql, block.text()));
                *printed = done.out.clone();
                return (unchanged, done.unlike(block.exit()));
            }
            _ => {}
        }
        (unchanged, None)
    }

    /// Runs the commands of a `console` block; the exit code is that of its last.
    fn console(&self, block: &Block) -> (Vec<String>, Option<String>) {
        let mut commands = block.commands();
        let last = commands.len() - 1;
        let mut wrong = None;
        for (at, command) in commands.iter_mut().enumerate() {
            let done = run(self.shell("sh", &format!("exec 2>&1\n{}", command.typed.join("\n"))));
            let expected = if at == last { block.exit() } else { 0 };
            wrong = wrong.or(done.unlike(expected));
            let actual = lines(&self.with_plain_server(&done.out));
            if !matches(&command.output, &actual) {
                command.output = renewed(&command.output, &actual);
            }
        }
        (commands.iter().flat_map(block::Command::lines).collect(), wrong)
    }

    /// The text with `localhost` for the folder of the server's socket, which has another name every time.
    fn with_plain_server(&self, text: &str) -> String {
        match self.socket_folder() {
            Some(folder) => text.replace(folder.to_str().unwrap(), "localhost"),
            None => text.to_owned(),
        }
    }

    fn socket_folder(&self) -> Option<PathBuf> {
        Some(self.server?.socket()?.parent()?.to_path_buf())
    }

    pub(super) fn shell(&self, program: &str, script: &str) -> (Command, String) {
        let mut command = self.command(program);
        command.args(["-c", script]);
        (command, String::new())
    }

    /// A program in the page's folder, which finds `perfpipe`, and no store or server but the page's own.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os() {
            let reaches_in = |prefix| name.to_string_lossy().starts_with(prefix);
            if ["PG", "PERFPIPE_", "GITHUB_", "COLUMNS"].into_iter().any(reaches_in) {
                command.env_remove(&name);
            }
        }
        let binaries = Path::new(env!("CARGO_BIN_EXE_perfpipe")).parent().unwrap().to_path_buf();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path =
            std::env::join_paths(std::iter::once(binaries).chain(std::env::split_paths(&path))).unwrap();
        command.env("PATH", path).env("HOME", self.folder).env("TZ", "UTC").current_dir(self.folder);
        if let Some(folder) = self.socket_folder() {
            command.env("PGHOST", folder).env("PGUSER", "postgres").env("PGDATABASE", DATABASE);
        }
        command
    }
}

impl Done {
    fn unlike(&self, code: i32) -> Option<String> {
        (self.code != Some(code))
            .then(|| format!("exit code {:?}, expected {code}; printed\n{}{}", self.code, self.out, self.err))
    }
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(|line| line.trim_end().to_owned()).collect()
}

/// Runs a command with this input, which must be short.
pub(super) fn run((mut command, input): (Command, String)) -> Done {
    let mut streams = [(); 2].map(|()| tempfile::tempfile().unwrap());
    let [out, err] = streams.each_ref().map(|file| Stdio::from(file.try_clone().unwrap()));
    command.stdin(Stdio::piped()).stdout(out).stderr(err);
    let mut child = command.spawn().unwrap();
    let _watch = Watch::over(&child);
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let code = child.wait().unwrap().code();
    let [out, err] = streams.each_mut().map(|file| {
        let mut text = String::new();
        file.rewind().unwrap();
        file.read_to_string(&mut text).unwrap();
        text
    });
    Done { code, out, err }
}
