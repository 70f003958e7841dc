//! File systems of a test's own: small ones, that fill up, and ones that become read-only.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::postgres::required::skip;

/// A tmpfs that only this and its children's processes see; gone with it.
pub(crate) struct Mount {
    holder: Child,
    orders: ChildStdin,
    answers: BufReader<std::process::ChildStdout>,
    folder: tempfile::TempDir,
}

impl Mount {
    /// A file system of so many KiB; `None`, with a note, where none may be mounted.
    pub(crate) fn new(kib: usize) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        // As root in a namespace of mounts; as somebody else in one of users too, where the system lets everybody.
        let flags = if nix::unistd::geteuid().is_root() { "-m" } else { "-rm" };
        let script = "while read -r order; do eval \"$order\" 2>&1; echo \"ended $?\"; done";
        let mut command = Command::new("unshare");
        command.args([flags, "sh", "-c", script]).current_dir(folder.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let Ok(mut holder) = command.spawn() else {
            skip("MOUNT", "unshare is not installed");
            return None;
        };
        let (orders, answers) = (holder.stdin.take().unwrap(), BufReader::new(holder.stdout.take().unwrap()));
        let mut mount = Self { holder, orders, answers, folder };
        let path = mount.folder.path().to_str().unwrap().to_owned();
        match mount.order(&format!("mount -t tmpfs -o size={kib}k,mode=1777 perfpipe {path}")) {
            Ok(()) => Some(mount),
            Err(told) => {
                skip("MOUNT", format!("no file system can be mounted here ({told})"));
                None
            }
        }
    }

    /// Where it is.
    pub(crate) fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/root{}", self.holder.id(), self.folder.path().display()))
    }

    /// From now on nothing in it can be changed.
    pub(crate) fn make_read_only(&mut self) {
        let path = self.folder.path().display().to_string();
        self.order(&format!("mount -o remount,bind,ro {path}")).unwrap();
    }

    fn order(&mut self, order: &str) -> Result<(), String> {
        let mut told = String::new();
        if writeln!(self.orders, "{order}").is_err() {
            return Err("unshare failed".into());
        }
        loop {
            let before = told.len();
            if self.answers.read_line(&mut told).unwrap() == 0 {
                return Err("unshare failed".into());
            }
            match told[before..].trim_end().strip_prefix("ended ") {
                Some("0") => return Ok(()),
                Some(_) => return Err(told[..before].trim_end().to_owned()),
                None => {}
            }
        }
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}
