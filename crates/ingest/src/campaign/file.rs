//! Recognises a file of a campaign by its content: a log, whose beginning is read, a CPU export, or neither.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::file_names::FileName;
use super::pairing::{Paired, ReadingsSpan};
use crate::operations::options::IngestOptions;
use crate::pipeline::plan::open_log;
use crate::pipeline::survey::Survey;
use crate::source::cpu_export::CpuSource;
use crate::source::{Inputs, LogSource};
use perfpipe_formats::endpoint::Endpoints;
use perfpipe_formats::injector::Injectors;
use perfpipe_formats::jtl::parsed::Parsed;
use perfpipe_formats::jtl::parser::Parser;
use perfpipe_model::error::{Error, Result};
use perfpipe_model::run::infer::Clues;
use perfpipe_model::run::info::SourceFile;
use perfpipe_model::run::key::RunKey;
use perfpipe_model::run::options::CpuScale;
use perfpipe_model::series::cpu::CpuJoin;

/// The number of bytes of a log that are read to plan its ingest.
const HEAD: usize = 1 << 20;

/// The kind of a file.
pub(crate) enum FoundFile {
    /// One log, or several in a zip, which are the injectors of one run.
    Log(Box<LogFile>),
    /// A CPU export.
    Cpu(CpuFile),
    /// A file that can't be read.
    Failed(Error),
    /// Neither a log nor a CPU export, with the reason.
    Neither(Error),
}

/// A file with one or more logs.
pub(crate) struct LogFile {
    pub(crate) path: PathBuf,
    pub(crate) sources: Vec<LogSource>,
    /// The clues in its beginning from which the key is inferred.
    pub(crate) clues: Clues,
    /// The parts of the key in its name, if names are used.
    pub(super) name: FileName,
    /// The smallest timeStamp in its beginning, epoch ms.
    pub(crate) t0_ms: Option<i64>,
    /// An estimate of the number of cells of its ingest: its seconds times the labels, extrapolated from its beginning.
    pub(crate) cells: u64,
    /// The CPU export in the same zip, if any.
    pub(crate) cpu: Option<CpuFile>,
}

/// A CPU export.
pub(crate) struct CpuFile {
    pub(crate) path: PathBuf,
    /// The file's size and checksum.
    pub(crate) file: SourceFile,
    /// How the readings are joined.
    pub(crate) join: CpuJoin,
    /// The unit of the readings, if it is in the file.
    pub(crate) scale: Option<CpuScale>,
    /// The extent of the readings, on the log's clock.
    pub(crate) readings: ReadingsSpan,
}

impl LogFile {
    /// Uses what is known from its name rather than from its beginning.
    pub(super) fn take_name(&mut self, name: FileName) {
        let FileName { framework, test, .. } = &name;
        self.clues.framework = framework.clone().or(self.clues.framework.take());
        self.clues.test = test.clone().or(self.clues.test.take());
        self.name = name;
    }

    /// The keys that the log may give, the most likely first.
    pub(super) fn keys(&self) -> Vec<RunKey> {
        let repeat = self.name.repeat.unwrap_or(1);
        self.clues.possible().into_iter().map(|key| key.with_repeat(repeat)).collect()
    }
}

impl FoundFile {
    /// Recognises a file. Reads the beginning of its logs, and its whole CPU export.
    pub(crate) async fn at(path: &Path, options: &IngestOptions) -> Self {
        match Self::look(path, options).await {
            Ok(found) => found,
            Err(error) => Self::Failed(error),
        }
    }

    async fn look(path: &Path, options: &IngestOptions) -> Result<Self> {
        let (file, of_task) = (path.to_owned(), options.clone());
        let looking = tokio::task::spawn_blocking(move || recognise(&file, &of_task));
        let looked = looking.await.map_err(|error| Error::store("looking at the files", error))??;
        let (inputs, head) = match looked {
            Ok(looked) => looked,
            Err(neither) => return Ok(Self::Neither(neither)),
        };
        let cpu = match inputs.cpu {
            Some(cpu) => Some(CpuFile::read(path, cpu, options).await?),
            None => None,
        };
        Ok(match (inputs.logs.first(), cpu) {
            (None, Some(cpu)) => Self::Cpu(cpu),
            (first, cpu) => Self::Log(Box::new(LogFile {
                path: path.to_owned(),
                clues: head.clues(first.map(LogSource::stems).unwrap_or_default(), options),
                name: FileName::default(),
                t0_ms: head.earliest_ms,
                cells: head.cells,
                sources: inputs.logs,
                cpu,
            })),
        })
    }
}

/// The logs of two files, which may have the same content.
pub(crate) struct SimilarLogs(Vec<(LogSource, LogSource)>);

impl SimilarLogs {
    /// Pairs the logs of two files; `None` if their numbers or their sizes differ.
    pub(crate) fn of(one: &LogFile, other: &LogFile) -> Option<Self> {
        let pairs = one.sources.iter().zip(&other.sources);
        let paired = |(one, other): (&LogSource, &LogSource)| {
            let sizes = one.unpacked_size().zip(other.unpacked_size());
            sizes.is_none_or(|(one, other)| one == other).then(|| Some((one.again()?, other.again()?)))?
        };
        let pairs = pairs.map(paired).collect::<Option<Vec<_>>>()?;
        (one.sources.len() == other.sources.len()).then_some(Self(pairs))
    }

    /// Reads all logs, and returns true if those of the two files have the same content. One that can't be read is no
    /// copy: the ingest says what is wrong with it.
    pub(crate) async fn are_the_same(self) -> Result<bool> {
        let reading = tokio::task::spawn_blocking(move || {
            self.0.into_iter().all(|(one, other)| match (content(one), content(other)) {
                (Some(one), Some(other)) => same_content(&one, &other),
                _ => false,
            })
        });
        reading.await.map_err(|error| Error::store("looking at the files", error))
    }
}

/// Returns true if two sources have the same size and checksum.
pub(super) fn same_content(one: &SourceFile, other: &SourceFile) -> bool {
    (one.bytes, one.crc32) == (other.bytes, other.crc32)
}

/// Reads a log for its size and checksum; `None` if that fails.
fn content(mut log: LogSource) -> Option<SourceFile> {
    log.open().ok()?.next_log().ok()??.finish().ok()
}

/// The logs of a file with their beginnings, and its CPU export. `Ok(Err(_))` is the reason why it has neither.
fn recognise(path: &Path, options: &IngestOptions) -> Result<Result<(Inputs, LogHeads)>> {
    let mut inputs = match Inputs::of_file(path, &options.source)? {
        Ok(inputs) => inputs,
        Err(neither) => return Ok(Err(neither)),
    };
    let head = LogHeads::read(&mut inputs.logs, options)?;
    Ok(Ok((inputs, head)))
}

impl CpuFile {
    async fn read(path: &Path, cpu: CpuSource, options: &IngestOptions) -> Result<Self> {
        let export = cpu.read(&options.source).await?;
        let all = export.series.readings();
        let join = options.cpu.join(&export.series);
        let clock = |(clock, _): &(i64, f64)| clock.saturating_add(join.offset);
        let readings = ReadingsSpan {
            count: all.len() as u64,
            first: all.first().map(clock).unwrap_or_default(),
            last: all.last().map(clock).unwrap_or_default().saturating_add(join.lookback.into()),
        };
        Ok(Self { path: path.to_owned(), file: export.file, join, scale: export.scale, readings })
    }
}

/// Estimates the number of cells of a log that is `times` as long as its parsed beginning.
fn cells(head: &Parsed, times: u64) -> u64 {
    let span_ms =
        head.latest_ms.zip(head.earliest_ms).map_or(0, |(latest, earliest)| latest.abs_diff(earliest));
    let labels = head.batch.label.values().len() as u64;
    (span_ms.saturating_mul(times) / 1000).saturating_mul(labels.max(1))
}

/// The facts in the beginnings of a run's logs.
#[derive(Default)]
struct LogHeads {
    earliest_ms: Option<i64>,
    endpoints: Endpoints,
    /// The distinct labels of requests, at most two.
    labels: Vec<String>,
    cells: u64,
}

impl LogHeads {
    fn read(logs: &mut [LogSource], options: &IngestOptions) -> Result<Self> {
        let dates = options.source.dates();
        let injectors = Injectors::new(options.injector_pattern.as_deref())?;
        let parser =
            Parser::new(dates, injectors, Arc::default(), CpuJoin::default()).only(options.only.clone());
        let mut head = Self::default();
        for log in logs {
            head.add(log, &parser, options)?;
        }
        Ok(head)
    }

    fn add(&mut self, log: &mut LogSource, parser: &Parser, options: &IngestOptions) -> Result<()> {
        let size = log.about_unpacked();
        let mut stream = log.open()?;
        let Some(log) = stream.next_log()? else { return Ok(()) };
        let (layout, mut cutter) = open_log(log, &options.source.layout, None, HEAD)?;
        // Each log is judged by its own first record.
        let mut survey = Survey::new(parser.clone(), options.max_span_ms, None);
        let looked = cutter.look_ahead().map(|block| {
            if let Some(block) = block.filter(|block| block.oversized.is_none()) {
                self.add_block(survey.add(block, &layout), size / (block.bytes.len() as u64).max(1));
            }
        });
        looked.map_err(|error| cutter.into_reader().explain(error))
    }

    /// Adds the facts in the beginning of a log that is `times` as long.
    fn add_block(&mut self, parsed: &Parsed, times: u64) {
        self.cells = self.cells.saturating_add(cells(parsed, times));
        self.earliest_ms = [self.earliest_ms, parsed.earliest_ms].into_iter().flatten().min();
        self.endpoints.merge(&parsed.endpoints);
        let batch = &parsed.batch;
        for (row, transaction) in batch.transaction.iter().enumerate() {
            let label = batch.label.get(row).unwrap_or_default();
            // Two suffice to see that there is more than one.
            if !transaction && self.labels.len() < 2 && !self.labels.iter().any(|known| known == label) {
                self.labels.push(label.to_owned());
            }
        }
    }

    /// The clues from which the key is inferred.
    fn clues(&self, stems: Vec<String>, options: &IngestOptions) -> Clues {
        let label = match self.labels.as_slice() {
            [only] if !only.is_empty() => Some(only.clone()),
            _ => None,
        };
        options.clues(&self.endpoints, label, stems)
    }
}

/// The CPU export of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlannedCpu {
    /// The file; or the host that is asked for the readings.
    pub file: PathBuf,
    /// How the export was found to belong to the log.
    pub paired: Paired,
    /// What the file contains; `None` if the readings are asked for.
    pub(super) export: Option<PlannedExport>,
}

/// What a CPU export contains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PlannedExport {
    pub(super) source: SourceFile,
    /// How the readings are joined.
    pub(super) join: CpuJoin,
    /// The unit of the readings, if it was given or is in the file.
    pub(super) scale: Option<CpuScale>,
}

impl PlannedCpu {
    pub(super) fn new(cpu: &CpuFile, paired: Paired) -> Self {
        let export = PlannedExport { source: cpu.file.clone(), join: cpu.join, scale: cpu.scale };
        Self { file: cpu.path.clone(), paired, export: Some(export) }
    }

    /// Readings that this host is asked for.
    pub(super) fn asked(host: &str) -> Self {
        Self { file: host.into(), paired: Paired::Asked, export: None }
    }
}
