//! `perfpipe rename`: gives a stored run another framework, test or repeat.

use anyhow::Result;
use clap::{ArgGroup, Args};
use perfpipe_ingest::run::Replace;
use perfpipe_ingest::{ErrorKind, RunKey};

use crate::args::{StoreArgs, repeat};
use crate::error::CliError;
use crate::input::{runs, store};
use crate::output::note;

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("new").args(["framework", "test", "repeat"]).multiple(true).required(true))]
#[command(after_help = "Examples:\n  \
    perfpipe rename 127.0.0.1:9000_2048 --framework perfectnio\n  \
    perfpipe rename go_2048 --repeat 2\n\n\
    The run is stored under the new name, read back and compared, and only then removed under the old one. If that is \
    interrupted, both may be there; the same command completes it.")]
pub(crate) struct RenameArgs {
    /// Run, as `perfpipe list` names it: go_2048, go_2048#2
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
}

/// Gives a run another key.
pub(crate) async fn run(args: &RenameArgs, store: &StoreArgs) -> Result<()> {
    let store = store::existing(store).await?;
    let (keys, _) = runs::all_named(std::slice::from_ref(&args.run), &store).await?;
    let Some(key) = keys.into_iter().next() else { return Ok(()) };
    let framework = args.framework.as_ref().unwrap_or(&key.framework);
    let test = args.test.as_ref().unwrap_or(&key.test);
    let new = RunKey::new(framework, test).with_repeat(args.repeat.unwrap_or(key.repeat));
    if new == key {
        let problem = format!("the run is called {key} already");
        return Err(CliError::usage(problem, "Give it another --framework, --test or --repeat.").into());
    }
    let replace = if args.replace { Replace::Any } else { Replace::Nothing };
    store.rename(&key, &new, replace).await.map_err(|error| match error.kind() {
        ErrorKind::KeyTaken => {
            let remedy = "Give the run another name, or replace that one with --replace.";
            CliError::refused(error.to_string(), remedy).into()
        }
        _ => anyhow::Error::from(error),
    })?;
    note(&format!("renamed {key} to {new} in {store}"));
    Ok(())
}
