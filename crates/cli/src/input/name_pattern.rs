//! Names of runs that are read from those of their logs: `--name`.

use std::path::PathBuf;

use anyhow::Result;
use perfpipe_ingest::IngestOptions;
use perfpipe_ingest::points::NamedParts;
use perfpipe_ingest::run::Repeat;

use super::summaries::pattern;
use crate::args::PointArgs;
use crate::error::CliError;

/// The pattern that messages show.
const EXAMPLE: &str = "{framework}_{test}_r{repeat}.csv.gz";

/// Sets what the name of a run's first log says; of folders, how their logs are named.
///
/// # Errors
/// If the pattern can't be read, the name does not follow it, or it names what another flag does.
pub(crate) fn apply(options: &mut IngestOptions, args: &PointArgs, files: &[PathBuf]) -> Result<()> {
    let Some(pattern) = pattern(args, EXAMPLE)? else { return Ok(()) };
    refuse_both(options, args)?;
    let Some(file) = files.iter().find(|file| !file.is_dir()) else {
        options.file_names = Some(pattern);
        return Ok(());
    };
    let Some(parts) = pattern.read(&file.to_string_lossy()) else {
        let problem = format!("{}: its name does not follow --name", file.display());
        return Err(CliError::usage(problem, "Correct the pattern, in which {*} stands for any text.").into());
    };
    let NamedParts { framework, test, repeat, port, .. } = parts;
    let on_port = port.and_then(|port| options.frameworks.on_port(port)).map(str::to_owned);
    options.framework = framework.or(on_port).or(options.framework.take());
    options.test = test.or(options.test.take());
    options.repeat = repeat.map_or(options.repeat, Repeat::Number);
    Ok(())
}

/// Refuses a pattern that names what another flag names too.
fn refuse_both(options: &IngestOptions, args: &PointArgs) -> Result<()> {
    let pattern = args.name.as_deref().unwrap_or_default();
    let both = [
        ("--framework", "{framework}", options.framework.is_some()),
        ("--test", "{test}", options.test.is_some()),
        ("--repeat or --append-repeat", "{repeat}", options.repeat != Repeat::default()),
    ];
    match both.into_iter().find(|(_, field, given)| *given && pattern.contains(field)) {
        None => Ok(()),
        Some((flag, field, _)) => {
            let problem = format!("{flag} is given, and --name has the field {field}");
            let remedy = format!(
                "Leave one of them out; {{*}} stands for text that does not matter instead of {field}."
            );
            Err(CliError::usage(problem, remedy).into())
        }
    }
}
