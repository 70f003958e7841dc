//! `perfpipe rename`: gives stored runs another framework, test or repeat.

use anyhow::Result;
use clap::{ArgGroup, Args};
use perfpipe_ingest::run::Replace;
use perfpipe_ingest::{ErrorKind, RunKey, Store};

use crate::args::{ConfirmArgs, OutputArgs, StoreArgs, TestArgs, repeat};
use crate::error::CliError;
use crate::input::runs::{Deed, RunNames, Selection};
use crate::input::store;
use crate::output::done::{DoneRow, DoneTable};
use crate::output::note;

/// The remedy where another run has the name.
const TAKEN: &str = "Give the run another name, or replace that one with --replace.";

#[derive(Debug, Args)]
#[command(mut_arg("yes", |yes| yes.help("Rename several runs without asking")))]
#[command(group = ArgGroup::new("new").args(["framework", "test", "repeat"]).multiple(true).required(true))]
#[command(after_help = "Examples:\n  \
    perfpipe rename 127.0.0.1:9000_2048 --framework perfectnio\n  \
    perfpipe rename go_2048#1 --repeat 2\n\n\
    All repeats of go_2048 keep their numbers; go_2048#1 is the first alone. Several are renamed only after a confirmation.\n\n\
    A run is stored under the new name, read back and compared, and only then removed under the old one. If that is \
    interrupted, both may be there; the same command completes it.")]
pub(crate) struct RenameArgs {
    /// Run: go_2048 with all its repeats, go_2048#2 for the second alone
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// New framework [default: as before]
    #[arg(long, value_name = "NAME")]
    pub(crate) framework: Option<String>,
    /// New test [default: as before]
    #[arg(long, value_name = "NAME")]
    pub(crate) test: Option<String>,
    /// New repeat of the test [default: as before]
    #[arg(long, value_name = "N", value_parser = repeat())]
    pub(crate) repeat: Option<u32>,
    /// Replace any run of that name
    #[arg(long)]
    pub(crate) replace: bool,
    #[command(flatten)]
    pub(crate) confirm: ConfirmArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

impl RenameArgs {
    /// Returns the key that a run gets.
    fn new_key(&self, key: &RunKey) -> RunKey {
        let framework = self.framework.as_ref().unwrap_or(&key.framework);
        let test = self.test.as_ref().unwrap_or(&key.test);
        RunKey::new(framework, test).with_repeat(self.repeat.unwrap_or(key.repeat))
    }
}

/// Returns the key that one of several runs is to get and another run has, so that not some of them are renamed.
fn taken<'a>(chosen: &Selection, moves: &'a [(&RunKey, RunKey)]) -> Option<&'a RunKey> {
    let stored = |key: &RunKey| chosen.stored.iter().find(|run| run.key == *key);
    let is_other = |(key, new): &&(&RunKey, RunKey)| match (stored(key), stored(new)) {
        // An earlier attempt was interrupted, so that the run is there by both names.
        (Some(run), Some(there)) => (run.t0_ms, run.records()) != (there.t0_ms, there.records()),
        (None, there) => there.is_some(),
        (Some(_), None) => false,
    };
    moves.iter().find(is_other).filter(|_| moves.len() > 1).map(|(_, new)| new)
}

/// Gives a run, or all repeats of a test, another key.
pub(crate) async fn run(args: &RenameArgs, store: &StoreArgs) -> Result<()> {
    let store = store::existing(store).await?;
    let mut done = DoneTable::begin(&args.output, false)?;
    let renamed = rename(args, &store, &mut done).await;
    done.end(renamed)
}

async fn rename(args: &RenameArgs, store: &Store, done: &mut DoneTable) -> Result<()> {
    let chosen = Selection::any(store, std::slice::from_ref(&args.run), &TestArgs::default()).await?;
    let moves = chosen.keys.iter().map(|key| (key, args.new_key(key))).collect::<Vec<_>>();
    if let Some((key, _)) = moves.iter().find(|(key, new)| *key == new) {
        let problem = format!("the run is called {} already", chosen.names.name(key));
        return Err(CliError::usage(problem, "Give it another --framework, --test or --repeat.").into());
    }
    if let (Some(repeat), true) = (args.repeat, moves.len() > 1) {
        let problem =
            format!("--repeat {repeat} is for one run, and there are {}", chosen.printed().join(", "));
        return Err(CliError::usage(problem, "Name one of them with its number.").into());
    }
    if let Some(taken) = taken(&chosen, &moves).filter(|_| !args.replace) {
        let problem =
            format!("the store already has a run {}, and nothing was renamed", chosen.names.name(taken));
        return Err(CliError::refused(problem, TAKEN).into());
    }
    if !chosen.may_be(Deed("Rename", "renamed"), &args.confirm, store).await? {
        note("nothing was renamed");
        return Ok(());
    }
    let replace = if args.replace { Replace::Any } else { Replace::Nothing };
    let others = store.keys().await?.into_iter().filter(|key| !chosen.keys.contains(key)).collect::<Vec<_>>();
    let names = RunNames::of(others.iter().chain(moves.iter().map(|(_, new)| new)));
    for (key, new) in &moves {
        store.rename(key, new, replace).await.map_err(|error| match error.kind() {
            ErrorKind::KeyTaken => CliError::refused(error.to_string(), TAKEN).into(),
            _ => anyhow::Error::from(error),
        })?;
        let (was, name) = (chosen.names.name(key), names.name(new));
        let what = format!("renamed {was} to {name} in {store}");
        done.say(DoneRow::of_run("run", "renamed", new, &name).was(was), &what);
    }
    Ok(())
}
