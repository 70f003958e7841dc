//! All that a run consists of, and its commit.

use perfpipe_ingest::counts::{Cell, CellKey, ErrorCount, LabelCount, PackedCell};
use perfpipe_ingest::run::{Reject, Replace};
use perfpipe_ingest::series::TimeSeries;
use perfpipe_ingest::store::RejectSpool;
use perfpipe_ingest::store::{CommitStage, FinishedRun, RunWriter, Stage};
use perfpipe_ingest::{Result, RunInfo, SampleBatch};

/// Everything that a run consists of.
#[derive(Debug, Clone)]
pub(crate) struct Example {
    pub(crate) info: RunInfo,
    pub(crate) batch: SampleBatch,
    pub(crate) labels: Vec<String>,
    pub(crate) injectors: Vec<String>,
    pub(crate) cells: Vec<(CellKey, Cell)>,
    pub(crate) cpu: TimeSeries,
    pub(crate) errors: Vec<ErrorCount>,
    pub(crate) label_counts: Vec<LabelCount>,
    pub(crate) rejects: Vec<Reject>,
}

/// Commits all of a run but its samples, which have been written.
pub(crate) async fn finish(writer: impl RunWriter, example: &Example, replace: Replace) -> Result<()> {
    let mut rejects = RejectSpool::default();
    example.rejects.iter().for_each(|reject| rejects.push(reject).unwrap());
    let (mut cells, stage) = (
        example.cells.iter().cloned().map(|(key, cell)| Ok((key, PackedCell::of(cell)))),
        CommitStage::default(),
    );
    let mut run = FinishedRun::new(&example.info, &mut cells, &example.cpu, &mut rejects, &stage);
    (run.labels, run.injectors) = (&example.labels, &example.injectors);
    run.errors = Box::new(example.errors.iter().cloned().map(Ok));
    run.label_counts = &example.label_counts;
    run.replace = replace;
    let committed = writer.commit(run).await;
    if committed.is_ok() {
        assert_eq!(stage.get(), Stage::Stored);
    }
    committed
}
