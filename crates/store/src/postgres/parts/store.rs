//! Stores a part, at the end of the transaction in which its samples were copied.

use std::fs::File;
use std::io::{Read, Seek};

use crate::connection::config::PostgresConfig;
use crate::connection::session::Session;
use crate::parquet::ParquetStore;
use crate::parquet::packed::{TemporaryFolder, pack};
use crate::postgres::copy::CopyIn;
use crate::postgres::copy::binary::{CHUNK, RowEncoder, whole};
use crate::postgres::locks;
use crate::postgres::lost_commit::{self, UncertainCommit};
use crate::postgres::samples::write::CopiedSamples;
use crate::postgres::schema::engine::ServerEngine;
use crate::postgres::schema::layout;
use crate::postgres::schema::names::run_text;
use crate::sink::{CommitStage, Stage};
use crate::sink::{FinishedRun, RunStore, RunWriter};
use perfpipe_model::counts::part::PartRow;
use perfpipe_model::error::{Error, Result};
use perfpipe_model::run::info::RunInfo;
use perfpipe_model::run::key::RunKey;
use perfpipe_model::run::replace::Replace;

use super::rows::{self, PartRecord};

/// The action that error messages name.
const STORING: &str = "storing the part";

/// Stores a part whose samples are loaded.
pub(crate) async fn store(
    (session, config, engine): (Session, &PostgresConfig, ServerEngine),
    loaded: Option<CopiedSamples>,
    row: PartRow,
    run: FinishedRun<'_>,
) -> Result<()> {
    let (info, stage) = (run.info, run.stage);
    let (key, number) = (&info.key, row.number.number());
    rows::later().ensure(&session, STORING, engine).await?;
    layout::lock_schema(&session, STORING).await?;
    let old = rows::of_run(&session, STORING, key, Some(number)).await?.into_iter().next();
    if let Some(old) = &old {
        check_replace(old, run.replace, info)?;
        rows::delete(&session, STORING, key, Some(&[number])).await?;
    }
    let generation = rows::insert(&session, STORING, &row, info).await?;
    copy_pieces(&session, key, number, packed(run).await?).await?;
    if let Some(loaded) = &loaded {
        loaded.index_own(&session).await?;
    }
    if let Some(tables) = old.and_then(|old| old.tables()) {
        locks::drop_tables(&session, &tables).await?;
    }
    if let Some(loaded) = loaded {
        let tables = loaded.join(&session, key, &format!("_part{number}")).await?;
        rows::name_table(&session, STORING, (key, number), &tables.own).await?;
    }
    stage.set(Stage::Asked);
    let Err(lost) = session.run("committing the part", "commit").await else {
        stage.set(Stage::Stored);
        return Ok(());
    };
    drop(session);
    lost_commit::resolve(
        config,
        UncertainCommit { info, number: generation, part: Some(number) },
        stage,
        lost,
    )
    .await
}

/// Fails if a part may not replace the stored one of its number.
fn check_replace(old: &PartRecord, replace: Replace, info: &RunInfo) -> Result<()> {
    match old.info() {
        Ok(old) if !replace.allows(&old, info) => Err(Replace::refusal(&old, info)),
        Err(_) if !replace.allows_unread(info) => Err(Replace::refusal_unread("reading its row")),
        _ => Ok(()),
    }
}

/// Packs everything of a part but its samples into one file.
async fn packed(mut run: FinishedRun<'_>) -> Result<File> {
    let failed = |error: std::io::Error| Error::io(&std::env::temp_dir(), error);
    let folder = TemporaryFolder::new(&std::env::temp_dir())?;
    let store = ParquetStore::open(folder.path())?;
    let info = RunInfo { samples_stored: false, ..run.info.clone() };
    let writer = store.begin(Some(&info.key), false).await?;
    let own_stage = CommitStage::default();
    writer.commit(run.with_info(&info, &own_stage)).await?;
    let mut file = tempfile::tempfile().map_err(failed)?;
    pack(&store, &info.key, &mut file)?;
    file.rewind().map_err(failed)?;
    Ok(file)
}

/// Copies a packed part to the table of pieces.
async fn copy_pieces(session: &Session, key: &RunKey, number: u32, mut packed: File) -> Result<()> {
    let (run, part) = (run_text(key), whole::<_, i32>(number)?);
    let mut copy =
        CopyIn::begin(session, STORING, "perfpipe.partfiles", "run, part, number, content", "").await?;
    let mut encoder = RowEncoder::default();
    let mut piece = Vec::new();
    for at in 0_i32.. {
        piece.clear();
        let read = packed.by_ref().take(CHUNK as u64).read_to_end(&mut piece);
        read.map_err(|error| Error::io(&std::env::temp_dir(), error))?;
        if piece.is_empty() {
            break;
        }
        encoder.row(4);
        encoder.any_text(&run);
        encoder.i32(part);
        encoder.i32(at);
        encoder.bytes(&piece);
        copy.send(session, encoder.take()?).await?;
    }
    copy.finish(session).await.map(drop)
}
