//! Tells `perfpipe --version` the commit that a release is built from.
//!
//! The commit is `PERFPIPE_COMMIT` if that is set, otherwise what `cargo package` noted, otherwise what git says of the
//! folder. Other builds name none: each commit would build them anew.

use std::env;
use std::fs;
use std::process::Command;

/// The number of characters of a commit that are told.
const SHORT: usize = 12;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=PERFPIPE_COMMIT");
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let told = env::var("PERFPIPE_COMMIT").ok().filter(|commit| !commit.is_empty());
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let commit = told.or_else(|| if is_release { packaged().or_else(checked_out) } else { None });
    let version = commit.map_or_else(|| version.clone(), |commit| format!("{version} ({commit})"));
    println!("cargo::rustc-env=PERFPIPE_VERSION={version}");
}

/// The commit of which a package was made, as `cargo package` notes it.
fn packaged() -> Option<String> {
    let noted = fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, behind) = noted.split_once("\"sha1\"")?;
    let commit = behind.split('"').nth(1)?;
    commit.get(..SHORT).map(str::to_owned)
}

/// The commit that is checked out, with a mark if files were changed since.
fn checked_out() -> Option<String> {
    let commit = git(&["rev-parse", "HEAD"])?;
    println!("cargo::rerun-if-changed={}", git(&["rev-parse", "--git-path", "logs/HEAD"])?);
    println!("cargo::rerun-if-changed=..");
    let changed = git(&["status", "--porcelain", "--untracked-files=no"])?;
    let mark = if changed.is_empty() { "" } else { ", changed" };
    Some(format!("{}{mark}", commit.get(..SHORT)?))
}

fn git(words: &[&str]) -> Option<String> {
    let output = Command::new("git").args(words).output().ok()?;
    let text = output.status.success().then_some(output.stdout)?;
    Some(String::from_utf8(text).ok()?.trim().to_owned())
}
