//! Plans a campaign: recognises the files, pairs logs with CPU exports, and compares them with the store.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use futures_util::future::BoxFuture;

use super::file::{CpuFile, FoundFile, LogFile, PlannedCpu, SimilarLogs, same_content};
use super::file_names::{FileName, distinct, proposal};
use super::folder::FolderListing;
use super::pairing::{Paired, PairedExport, PairedLog, PairingChoice, bare, log_of, pair};
use super::run::CampaignRun;
use super::status::{RunCandidate, Stand};
use crate::operations::options::{IngestOptions, check};
use crate::operations::store::Store;
use perfpipe_model::error::{Error, ErrorKind, Place, Result};
use perfpipe_model::run::info::RunInfo;
use perfpipe_model::run::key::{Repeat, RunKey};
use perfpipe_model::run::note::{Note, NoteKind};

/// The maximum number of examples that an error names.
const NAMED: usize = 3;

/// The runs in some folders.
#[non_exhaustive]
pub struct Campaign {
    /// The runs, sorted by t0, followed by the files that can't be read.
    pub runs: Vec<CampaignRun>,
    /// The skipped files with the reason, as sentences.
    pub notes: Vec<String>,
    /// The errors of stored runs that could not be read. It is unknown whether they hold runs of this campaign.
    pub unread: Vec<Error>,
    pub(super) options: IngestOptions,
}

/// A CPU export, or an unreadable file whose name may mark it as one.
enum Other {
    Cpu(CpuFile),
    Failed(PathBuf, Option<Error>),
}

impl Other {
    fn path(&self) -> &Path {
        match self {
            Self::Cpu(cpu) => &cpu.path,
            Self::Failed(path, _) => path,
        }
    }

    fn export(&self) -> PairedExport {
        let bare = bare(self.path());
        let log = log_of(&bare).map(str::to_owned);
        let (names, readings) = match self {
            // The name of a CPU export may also equal the log's.
            Self::Cpu(cpu) => (log.into_iter().chain([bare]).collect(), Some(cpu.readings)),
            Self::Failed(..) => (log.into_iter().collect(), None),
        };
        PairedExport { folder: folder(self.path()), names, readings }
    }
}

fn folder(path: &Path) -> PathBuf {
    path.parent().unwrap_or(Path::new("")).to_owned()
}

/// The files of a campaign by kind.
#[derive(Default)]
struct Files {
    logs: Vec<LogFile>,
    others: Vec<Other>,
    notes: Vec<String>,
}

impl Files {
    async fn of(folders: &[PathBuf], options: &IngestOptions) -> Result<Self> {
        let listing = FolderListing::of(folders)?;
        let mut files = Self { notes: listing.left_out, ..Self::default() };
        for path in listing.files {
            match FoundFile::at(&path, options).await {
                FoundFile::Log(log) => files.log(*log).await?,
                FoundFile::Cpu(cpu) => files.cpu(cpu),
                FoundFile::Failed(error) => files.others.push(Other::Failed(path, Some(error))),
                FoundFile::Neither(why) => files.notes.push(format!("left out: {why}")),
            }
        }
        Ok(files)
    }

    /// Adds a log, unless it is a copy of a known one, as a packed log is of the log beside it.
    async fn log(&mut self, log: LogFile) -> Result<()> {
        let name = |log: &LogFile| (folder(&log.path), bare(&log.path));
        let similar = self.logs.iter().filter(|known| name(known) == name(&log) && known.t0_ms == log.t0_ms);
        let similar: Vec<(PathBuf, SimilarLogs)> =
            similar.filter_map(|known| Some((known.path.clone(), SimilarLogs::of(&log, known)?))).collect();
        for (known, twins) in similar {
            if twins.are_the_same().await? {
                let (copy, known) = (Place::file(&log.path), Place::file(&known));
                self.notes.push(format!("left out: {copy} holds the same as {known}"));
                return Ok(());
            }
        }
        self.logs.push(log);
        Ok(())
    }

    /// Adds a CPU export, unless it is a copy of a known one.
    fn cpu(&mut self, cpu: CpuFile) {
        let same = self.others.iter().find(|other| match other {
            Other::Cpu(known) => same_content(&known.file, &cpu.file) && is_copy(known, &cpu),
            Other::Failed(..) => false,
        });
        match same {
            Some(same) => self.notes.push(format!(
                "left out: {} has the same content as {}",
                Place::file(&cpu.path),
                Place::file(same.path())
            )),
            None => self.others.push(Other::Cpu(cpu)),
        }
    }

    /// The runs with their CPU exports, the runs of unreadable files, and the notes.
    fn runs(
        mut self,
        asked_host: Option<&str>,
    ) -> (Vec<(LogFile, CampaignRun)>, Vec<CampaignRun>, Vec<String>) {
        let exports: Vec<PairedExport> = self.others.iter().map(Other::export).collect();
        let asked: Vec<PairedLog> = self.logs.iter().map(asked).collect();
        let mut used = vec![false; exports.len()];
        let mut runs = Vec::new();
        for (log, choice) in std::mem::take(&mut self.logs).into_iter().zip(pair(&asked, &exports)) {
            let run = self.run(&log, choice, &mut used, asked_host);
            runs.push((log, run));
        }
        let mut failed = Vec::new();
        for (other, used) in self.others.into_iter().zip(used) {
            match other {
                Other::Cpu(cpu) if !used => self.notes.push(format!(
                    "{} belongs to no log: no log has its name, and none begins within the time of its \
                     readings",
                    Place::file(&cpu.path)
                )),
                Other::Failed(path, Some(error)) => failed.push(CampaignRun::failed(path, error)),
                _ => {}
            }
        }
        (runs, failed, self.notes)
    }

    fn run(
        &mut self,
        log: &LogFile,
        choice: PairingChoice,
        used: &mut [bool],
        asked_host: Option<&str>,
    ) -> CampaignRun {
        let mut run = CampaignRun::of(log);
        let mut use_up = |number: usize| used.get_mut(number).into_iter().for_each(|used| *used = true);
        if let Some(cpu) = &log.cpu {
            run.cpu = Some(PlannedCpu::new(cpu, Paired::File));
            if let PairingChoice::One(number, Paired::Name, _) = choice {
                use_up(number);
                run.notes.extend(self.others.get(number).map(|other| {
                    let other = Place::file(other.path());
                    format!("left out: {other}, since the log's zip contains a CPU export").into()
                }));
            }
            return run;
        }
        match choice {
            PairingChoice::None => match asked_host {
                Some(host) => run.cpu = Some(PlannedCpu::asked(host)),
                None => run.notes.push(Note::new(NoteKind::NoCpu, "it has no CPU export")),
            },
            PairingChoice::Several(numbers) => {
                numbers.iter().copied().for_each(&mut use_up);
                run.stand = Stand::Failed(self.ambiguous(&log.path, &numbers));
            }
            PairingChoice::One(number, paired, old) => {
                use_up(number);
                old.iter().copied().for_each(&mut use_up);
                run.notes.extend(old.iter().filter_map(|old| self.too_old(*old, *old == number)));
                match self.others.get_mut(number) {
                    Some(Other::Cpu(cpu)) => run.cpu = Some(PlannedCpu::new(cpu, paired)),
                    Some(Other::Failed(path, error)) => {
                        run.stand = Stand::Failed(error.take().unwrap_or_else(|| unreadable(path)));
                    }
                    None => {}
                }
            }
        }
        run
    }

    fn too_old(&self, number: usize, joined: bool) -> Option<Note> {
        let path = Place::file(self.others.get(number)?.path());
        let what = if joined {
            "it is stored with the run, but joined to none of its requests"
        } else {
            "another one is used"
        };
        Some(Note::new(NoteKind::CpuApart, format!("{path} ends before the log begins: {what}")))
    }

    fn ambiguous(&self, log: &Path, numbers: &[usize]) -> Error {
        let named = numbers.iter().filter_map(|number| self.others.get(*number));
        let names: Vec<String> = named.map(|other| other.path().display().to_string()).collect();
        let bare = bare(log);
        Error::usage(
            ErrorKind::AmbiguousCpu,
            format!("{}: several CPU exports may belong to it: {}", log.display(), names.join(", ")),
            format!("Name the right one {bare}.cpu.csv, after the log, and remove the others of that name."),
        )
    }
}

/// Returns true if two CPU exports with the same content belong to the same log, by folder and name.
fn is_copy(one: &CpuFile, other: &CpuFile) -> bool {
    let name = |cpu: &CpuFile| {
        let bare = bare(&cpu.path);
        (folder(&cpu.path), log_of(&bare).map_or_else(|| bare.clone(), str::to_owned))
    };
    name(one) == name(other)
}

fn unreadable(path: &Path) -> Error {
    Error::input(
        ErrorKind::CpuUnreadable,
        path,
        "its CPU export can't be read",
        "See the error of the first run that it belongs to.",
    )
}

fn asked(log: &LogFile) -> PairedLog {
    PairedLog {
        folder: folder(&log.path),
        name: bare(&log.path),
        begins: log.t0_ms.map(|ms| ms.div_euclid(1000)),
    }
}

impl Campaign {
    /// Plans the ingest of the files in `folders`: recognises logs and CPU exports, pairs them, infers the key of each
    /// run, and checks whether the store already has it. Reads the beginning of each log and the whole of each CPU
    /// export. Stores nothing.
    ///
    /// A run without a CPU export gets the readings of its time from [`IngestOptions::cpu_from`](crate::IngestOptions),
    /// once it is ingested, and every run the series that are asked for.
    ///
    /// With [`Repeat::Next`], runs of the same framework and test become its repeats, in order of their t0.
    ///
    /// # Errors
    /// When a folder can't be read, the folders hold no log, the options are invalid for a campaign, or the store can't
    /// be read. A file that can't be read is not an error but a run that [failed](Stand::Failed).
    pub fn plan<'a>(
        folders: &'a [PathBuf],
        options: &'a IngestOptions,
        store: &'a Store,
    ) -> BoxFuture<'a, Result<Self>> {
        Box::pin(async move {
            check(options)?;
            if !options.series.is_empty() {
                return Err(Error::usage(
                    ErrorKind::SeriesOfFolder,
                    "a series of the server is given for one run, and a folder has many",
                    "Leave it out, or ingest a run with its series alone: name its files instead of the folder.",
                ));
            }
            if options.origin.is_some() || !matches!(options.repeat, Repeat::Number(1) | Repeat::Next) {
                return Err(Error::usage(
                    ErrorKind::OneRunOnly,
                    "an origin or a repeat number applies to one run, and a folder has many",
                    "Leave them out, or ingest that run alone: name its files instead of the folder.",
                ));
            }
            let asked_host = options.asked_cpu().map(|(host, _)| host);
            let (mut runs, failed, mut notes) =
                Files::of(folders, options).await?.runs(asked_host.as_deref());
            if runs.is_empty() && failed.is_empty() {
                let names: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
                let why: String = notes.iter().take(NAMED).map(|note| format!("; {note}")).collect();
                return Err(Error::usage(
                    ErrorKind::NoLogInFolder,
                    format!("there is no JMeter log in {}{why}", names.join(", ")),
                    "Name the folder with the logs.",
                ));
            }
            // Sorted, so that runs are matched with stored ones in an order that does not depend on the folders.
            runs.sort_by(|(one, _), (other, _)| (one.t0_ms, &one.path).cmp(&(other.t0_ms, &other.path)));
            notes.extend(name_runs(&mut runs, options));
            let stored = store.look().await?;
            assign_keys(&mut runs, options, &stored.runs);
            let mut runs: Vec<CampaignRun> = runs.into_iter().map(|(log, run)| run.with(log)).collect();
            runs.extend(failed);
            Ok(Self { runs, notes, unread: stored.unread, options: options.clone() })
        })
    }

    /// Returns the keys that several runs have, each with the logs of these.
    pub fn shared_keys(&self) -> BTreeMap<&RunKey, Vec<&Path>> {
        let mut places: BTreeMap<&RunKey, Vec<&Path>> = BTreeMap::new();
        for run in self.runs.iter().filter(|run| !matches!(run.stand, Stand::Failed(_))) {
            if let Some(key) = &run.key {
                places.entry(key).or_default().push(&run.log);
            }
        }
        places.retain(|_, logs| logs.len() > 1);
        places
    }

    /// Checks that no two runs have the same key.
    ///
    /// # Errors
    /// When two have; [`shared_keys`](Self::shared_keys) says which.
    pub fn check(&self) -> Result<()> {
        let shared = self.shared_keys();
        let keys: Vec<String> = shared.keys().take(NAMED).map(ToString::to_string).collect();
        let more = match shared.len() {
            0 => return Ok(()),
            all if all > NAMED => format!(" and {} more", all - NAMED),
            _ => String::new(),
        };
        let logs: Vec<&Path> = shared.values().flatten().copied().collect();
        let fits = proposal(&logs).map(|pattern| {
            format!("; the pattern {pattern} of file names would name each of them otherwise")
        });
        Err(Error::usage(
            ErrorKind::SharedKey,
            format!(
                "several logs have the same key, and nothing was stored: {}{more}{}",
                keys.join(", "),
                fits.unwrap_or_default()
            ),
            "Keep one of them in the folder, name the runs by a pattern of file names, name the frameworks by their \
             ports (Frameworks), or, if they are repeats of one test, store them as such (Repeat::Next).",
        ))
    }
}

/// Compares each run with the stored runs, and assigns its key.
fn assign_keys(runs: &mut [(LogFile, CampaignRun)], options: &IngestOptions, stored: &[RunInfo]) {
    let mut taken = HashSet::new();
    let keys: Vec<Vec<RunKey>> = runs.iter().map(|(log, _)| log.keys()).collect();
    let mut open = Vec::new();
    for (number, (log, run)) in runs.iter_mut().enumerate() {
        run.key = keys.get(number).and_then(|keys| keys.first()).cloned();
        if matches!(run.stand, Stand::Failed(_)) {
            continue;
        }
        let cpu = run.cpu.clone();
        let options = log.name.options(options);
        let candidate = candidate(log, cpu.as_ref(), keys.get(number), &options);
        match candidate.same_logs(stored, &taken) {
            Some((info, sure)) => {
                taken.insert(info.key.clone());
                run.found(info, sure, candidate.change(info));
            }
            None => open.push(number),
        }
    }
    for number in open {
        let Some((log, run)) = runs.get_mut(number) else { continue };
        let cpu = run.cpu.clone();
        let options = log.name.options(options);
        let candidate = candidate(log, cpu.as_ref(), keys.get(number), &options);
        run.place(&candidate, stored, &mut taken);
        let copy = stored.iter().find(|info| candidate.is_of(info) && Some(&info.key) != run.key.as_ref());
        run.notes.extend(copy.map(|info| format!("its log is stored as {} too", info.key).into()));
    }
}

fn candidate<'a>(
    log: &'a LogFile,
    cpu: Option<&'a PlannedCpu>,
    keys: Option<&'a Vec<RunKey>>,
    options: &'a IngestOptions,
) -> RunCandidate<'a> {
    let keys = keys.map(Vec::as_slice).unwrap_or_default();
    RunCandidate { keys, t0_ms: log.t0_ms, logs: &log.sources, cpu, options }
}

/// Names the runs by their files: all of them by a pattern that is given, otherwise those that would have one key. Returns
/// notes on the latter.
fn name_runs(runs: &mut [(LogFile, CampaignRun)], options: &IngestOptions) -> Vec<String> {
    let Some(pattern) = &options.file_names else { return prefer_names(runs, options) };
    for (log, run) in runs {
        match pattern.read(&log.path.to_string_lossy()) {
            Some(parts) => log.take_name(FileName::new(parts, options)),
            None => run.stand = Stand::Failed(unnamed(&log.path)),
        }
    }
    Vec::new()
}

fn unnamed(path: &Path) -> Error {
    Error::usage(
        ErrorKind::FileName,
        format!("{}: its name does not follow the pattern of file names", path.display()),
        "Correct the pattern, in which {*} stands for any text, or move the file elsewhere.",
    )
}

/// Where what is in several logs gives them one key, takes frameworks and tests from their names: only if these are plain,
/// give each log a key of its own, and name more than one framework or number all repeats.
fn prefer_names(runs: &mut [(LogFile, CampaignRun)], options: &IngestOptions) -> Vec<String> {
    if options.framework.is_some() || options.test.is_some() {
        return Vec::new();
    }
    let mut groups: BTreeMap<RunKey, Vec<usize>> = BTreeMap::new();
    for (number, (log, _)) in runs.iter().enumerate() {
        groups.entry(log.clues.infer().key).or_default().push(number);
    }
    let mut notes = Vec::new();
    for (key, members) in groups.into_iter().filter(|(_, members)| members.len() > 1) {
        let paths: Vec<&Path> =
            members.iter().filter_map(|number| runs.get(*number)).map(|(log, _)| &*log.path).collect();
        let Some(names) = distinct(&paths) else { continue };
        notes.push(format!(
            "{} logs would all be {key} by their requests, and are named by their files",
            members.len()
        ));
        for (number, name) in members.into_iter().zip(names) {
            runs.get_mut(number).into_iter().for_each(|(log, _)| log.take_name(name.clone()));
        }
    }
    notes
}
