//! Which run the flags mean.

use anyhow::Result;
use perfpipe_ingest::store::Store;
use perfpipe_ingest::{Error, RunKey};

use crate::args::KeyArgs;

/// The key of the run that is meant: the repeat that was told, else the only one. Where there are several, none of them
/// stands for all.
pub(crate) async fn find(args: &KeyArgs, store: &Store) -> Result<RunKey> {
    let key = RunKey::new(&args.framework, &args.test);
    if let Some(repeat) = args.repeat {
        return Ok(key.with_repeat(repeat));
    }
    match store.repeats(&key.framework, &key.test).await?.as_slice() {
        [] => Ok(key),
        [only] => Ok(key.with_repeat(*only)),
        several => {
            let keys: Vec<String> =
                several.iter().map(|repeat| key.clone().with_repeat(*repeat).to_string()).collect();
            let last = several.last().copied().unwrap_or_default();
            Err(Error::usage(
                format!("the store has several repeats of this run: {}", keys.join(", ")),
                format!("Name one of them, as in --repeat {last}."),
            )
            .into())
        }
    }
}
