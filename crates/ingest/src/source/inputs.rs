//! Recognises the input files by their content and sorts them into logs and a CPU export.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::cpu_export::CpuSource;
use super::detect::FileContent;
use super::file::{FilePart, Has, StoredText};
use super::log::{LogSource, PipedLogs, left_out};
use super::options::SourceOptions;
use super::pipe::InputPipe;
use super::unpack::codec::{Container, MAGIC};
use super::unpack::metered::{PackedCount, read_up_to};
use super::zip::directory::{members, placed_members};
use super::zip::member::Member;
use super::zip::recover::scan;
use perfpipe_model::error::{Error, ErrorKind, Place, Result};
use perfpipe_model::run::damage::{Damage, Fault, explain, harm};

/// The inputs of one run.
#[derive(Default)]
#[non_exhaustive]
pub struct Inputs {
    /// The logs of the run's injectors, in the order given. A pipe counts as one, but may contain several.
    pub logs: Vec<LogSource>,
    /// The CPU export, if there is one.
    pub cpu: Option<CpuSource>,
    /// Notes for the user, as sentences.
    pub notes: Vec<String>,
    /// Damage that was found before any log was read: in the directories of zips, and in members of which too little is
    /// left to recognise them. Always empty without [`SourceOptions::salvage`].
    pub damage: Vec<Damage>,
}

impl Inputs {
    /// Recognises each file by its content: logs and CPU exports, plain, gzipped, packed by Zstandard or in zips. `-`
    /// is standard input.
    ///
    /// Standard input and named pipes are read until the first log is found. A CPU export before it is copied to a
    /// temporary file.
    ///
    /// # Errors
    /// If a file can't be read or contains neither a log nor a CPU export, if there are two CPU exports, or if a file is
    /// named twice.
    pub fn recognise(files: &[PathBuf], options: &SourceOptions) -> Result<Self> {
        let mut inputs = Self::default();
        refuse_named_twice(files)?;
        for file in files {
            if file.as_os_str() == "-" {
                let begin = io::Cursor::new(options.read_of_stdin.clone());
                inputs.pipe(file, begin.chain(io::stdin()), options)?;
                continue;
            }
            let kind = std::fs::metadata(file).map_err(|e| Error::io(file, e))?;
            if kind.is_dir() {
                return Err(Error::input(ErrorKind::Folder, file, "is a folder", "Name the files in it."));
            } else if kind.is_file() {
                inputs.regular(file, options)?;
            } else {
                inputs.pipe(file, File::open(file).map_err(|e| Error::io(file, e))?, options)?;
            }
        }
        inputs.hand_over();
        Ok(inputs)
    }

    /// Recognises each file as [`recognise`](Self::recognise) does. The texts of some are kept in other files than those by
    /// which they are called.
    ///
    /// # Errors
    /// As for [`recognise`](Self::recognise).
    pub(crate) fn recognise_kept(
        files: &[PathBuf],
        kept: &[(PathBuf, PathBuf)],
        options: &SourceOptions,
    ) -> Result<Self> {
        let mut inputs = Self::default();
        for file in files {
            match kept.iter().find(|(called, _)| called == file) {
                Some((called, text)) => inputs.kept(called, text, options)?,
                None => inputs.regular(file, options)?,
            }
        }
        Ok(inputs)
    }

    /// Recognises files on a thread for blocking work, since a pipe may be slow.
    pub(crate) async fn recognise_aside(files: Vec<PathBuf>, options: SourceOptions) -> Result<Self> {
        tokio::task::spawn_blocking(move || Self::recognise(&files, &options))
            .await
            .map_err(|error| Error::store("looking at the files", error))?
    }

    /// Recognises the data of a reader, as [`recognise`](Self::recognise) does for standard input. `name` is the file
    /// name in messages.
    ///
    /// ```
    /// use std::io::Read;
    /// use perfpipe_ingest::source::{Inputs, SourceOptions};
    /// let log = "timeStamp,elapsed,success\n1795203738615,12,true\n";
    /// let mut inputs = Inputs::of_reader("run.csv", log.as_bytes(), &SourceOptions::default())?;
    /// let mut logs = inputs.logs[0].open()?;
    /// let mut text = String::new();
    /// while let Some(mut log) = logs.next_log()? {
    ///     log.read_to_string(&mut text).map_err(|e| log.explain(e))?;
    ///     log.finish()?;
    /// }
    /// assert_eq!(text, log);
    /// # Ok::<(), perfpipe_ingest::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`recognise`](Self::recognise), except for a file that is named twice.
    pub fn of_reader(
        name: impl AsRef<Path>,
        input: impl Read + Send + 'static,
        options: &SourceOptions,
    ) -> Result<Self> {
        let mut inputs = Self::default();
        inputs.pipe(name.as_ref(), input, options)?;
        inputs.hand_over();
        Ok(inputs)
    }

    /// Lets the pipes know if there is a CPU export, so that they skip a second one.
    fn hand_over(&mut self) {
        if self.cpu.is_some() {
            self.logs.iter_mut().for_each(LogSource::cpu_is_given);
        }
    }

    /// Recognises one regular file, as `recognise` does. The inner error describes a readable, undamaged file that
    /// contains neither a log nor a CPU export.
    ///
    /// # Errors
    /// If the file can't be read, is damaged, or contains two CPU exports.
    pub(crate) fn of_file(path: &Path, options: &SourceOptions) -> Result<Result<Self>> {
        let mut inputs = Self::default();
        let others = inputs.sort(path, options, NestedFiles::LeaveOut)?;
        let neither = !others.recognised && !others.is_harmed();
        match inputs.leave_out(others, options.salvage) {
            Err(error) if neither => Ok(Err(error)),
            done => done.map(|()| Ok(inputs)),
        }
    }

    /// Adds a log whose text is kept in another file than the one by which it is called.
    ///
    /// # Errors
    /// If it can't be read or is no log.
    fn kept(&mut self, called: &Path, path: &Path, options: &SourceOptions) -> Result<()> {
        let failed = |e| explain(Place::file(called), e);
        let stored =
            StoredText::new(path, FilePart::Whole(Container::Plain), options.salvage).map_err(failed)?;
        let stored = stored.called(called);
        let head = stored.head()?.map_err(|fault| fault.at(Place::file(called)))?;
        match head.content(options)? {
            FileContent::Log => self.logs.push(LogSource::stored(stored, head.has())),
            FileContent::Other(fault) => return Err(fault.at(Place::file(called))),
            FileContent::Cpu(form) => self.cpu(CpuSource::stored(stored, form))?,
        }
        Ok(())
    }

    fn regular(&mut self, path: &Path, options: &SourceOptions) -> Result<()> {
        let others = self.sort(path, options, NestedFiles::Read)?;
        self.leave_out(others, options.salvage)
    }

    /// Adds the logs and the CPU export of a file, and returns everything else that it contains.
    fn sort(&mut self, path: &Path, options: &SourceOptions, nested: NestedFiles) -> Result<OtherParts> {
        let mut others = OtherParts::new(path);
        for stored in self.parts(path, options.salvage)? {
            let place = stored.place();
            let is_member = place.member.is_some();
            let (content, has, packed) = match stored.head()? {
                Ok(head) => {
                    let packed = is_member && Container::of(&head.bytes) != Container::Plain;
                    (head.content(options)?, head.has(), packed)
                }
                Err(fault) => (FileContent::Other(fault), Has::default(), false),
            };
            match content {
                FileContent::Log => {
                    others.recognised = true;
                    self.logs.push(LogSource::stored(stored, has));
                }
                FileContent::Cpu(form) => {
                    others.recognised = true;
                    self.cpu(CpuSource::stored(stored, form))?;
                }
                FileContent::Other(_) if packed && nested == NestedFiles::Read => {
                    let called = path.join(place.member.as_deref().unwrap_or_default());
                    let text = stored.open(PackedCount::default()).map_err(|e| explain(place.clone(), e))?;
                    let within = self.sort_pipe(&called, text, options)?;
                    if within.recognised {
                        others.recognised = true;
                        self.leave_out(within, options.salvage)?;
                    } else {
                        let fault = within.notes().err().map(|error| error.to_string()).unwrap_or_default();
                        others.list.push((place, no_log_within(&fault)));
                    }
                }
                FileContent::Other(fault) => others.list.push((place, fault)),
            }
        }
        Ok(others)
    }

    /// Adds notes on what a file contains besides logs and CPU exports, and with `salvage` on what is damaged. Without
    /// `salvage`, an unreadable member is an error even if others are readable, since it may be a log.
    fn leave_out(&mut self, mut others: OtherParts, salvage: bool) -> Result<()> {
        let harmed = others.list.iter().position(|(_, fault)| fault.harm);
        if let Some(at) = harmed.filter(|_| others.recognised && !salvage) {
            let (place, fault) = others.list.swap_remove(at);
            return Err(fault.at(place));
        }
        let whole = others.damage.iter().map(|fault| (&others.file, fault));
        let members = others.list.iter().map(|(place, fault)| (place, fault));
        let harmed = whole.chain(members).filter(|(_, fault)| salvage && fault.harm);
        self.damage.extend(harmed.map(|(place, fault)| Damage::new(place, fault, 0)));
        self.notes.extend(others.notes()?);
        Ok(())
    }

    /// Returns the texts of a regular file: the members of a zip, or the file itself.
    fn parts(&mut self, path: &Path, salvage: bool) -> Result<Vec<StoredText>> {
        let failed = |e| explain(Place::file(path), e);
        let mut magic = [0; MAGIC];
        let length =
            File::open(path).and_then(|mut file| read_up_to(&mut file, &mut magic)).map_err(failed)?;
        let container = Container::of(magic.get(..length).unwrap_or_default());
        self.note_misnamed(container, path);
        let parts = match container {
            Container::Zip if salvage => self.salvaged_members(path).map_err(failed)?,
            Container::Zip => members(path).map_err(failed)?,
            _ => {
                return Ok(vec![StoredText::new(path, FilePart::Whole(container), salvage).map_err(failed)?]);
            }
        };
        let stored = |member| StoredText::new(path, FilePart::Member(member), salvage).map_err(failed);
        parts.into_iter().map(stored).collect()
    }

    /// Lists the members of a zip by its directory, or by their local headers if the directory is damaged.
    fn salvaged_members(&mut self, path: &Path) -> io::Result<Vec<Member>> {
        let fault = match placed_members(path) {
            Ok(members) => return Ok(members),
            Err(error) => harm(error)?,
        };
        let members = scan(path)?;
        if members.is_empty() {
            return Err(fault.lost().into());
        }
        self.damage.push(Damage::new(&Place::file(path), &fault, 0));
        Ok(members)
    }

    /// Reads a pipe up to its first log.
    fn pipe(
        &mut self,
        path: &Path,
        input: impl Read + Send + 'static,
        options: &SourceOptions,
    ) -> Result<()> {
        let others = self.sort_pipe(path, input, options)?;
        self.leave_out(others, options.salvage)
    }

    /// Adds the CPU export and the logs of a pipe, which is read up to its first log, and returns everything else before that.
    fn sort_pipe(
        &mut self,
        path: &Path,
        input: impl Read + Send + 'static,
        options: &SourceOptions,
    ) -> Result<OtherParts> {
        let mut pipe = InputPipe::new(path, input, options.salvage)?;
        self.note_misnamed(pipe.container, path);
        let mut others = OtherParts::new(path);
        loop {
            let Some(piece) = pipe.next(options)? else {
                others.damage = pipe.take_damage();
                break;
            };
            match piece.content {
                FileContent::Log => {
                    others.recognised = true;
                    let options = options.clone();
                    let logs =
                        PipedLogs { pipe, found: Some(piece), cpu_given: false, options, others: Vec::new() };
                    self.logs.push(LogSource::piped(logs));
                    break;
                }
                FileContent::Cpu(form) => {
                    others.recognised = true;
                    self.cpu(CpuSource::spooled(piece.place, &piece.head.bytes, pipe.reader(), form)?)?;
                }
                FileContent::Other(fault) => others.list.push((piece.place, fault)),
            }
        }
        Ok(others)
    }

    fn cpu(&mut self, cpu: CpuSource) -> Result<()> {
        if let Some(first) = &self.cpu {
            return Err(Error::usage(
                ErrorKind::SeveralCpuExports,
                format!("there are two CPU exports: {}, and {}", first.place(), cpu.place()),
                "Give the one of the server that was tested.",
            ));
        }
        self.cpu = Some(cpu);
        Ok(())
    }

    fn note_misnamed(&mut self, container: Container, path: &Path) {
        let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        self.notes.extend(container.misnamed(&name));
    }
}

/// What to do with packed files within a zip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NestedFiles {
    /// Read what is in them, from begin to end, as of a pipe.
    Read,
    LeaveOut,
}

/// The fault of a packed file within a zip in which there is no log.
fn no_log_within(why: &str) -> Fault {
    Fault::new(
        ErrorKind::NoLogInZip,
        format!("is packed, and no log is in it: {why}"),
        "Give the zip with the log.",
    )
}

/// The parts of a file that are neither log nor CPU export.
struct OtherParts {
    file: Place,
    recognised: bool,
    list: Vec<(Place, Fault)>,
    /// Damage to the file itself, as opposed to its members.
    damage: Option<Fault>,
}

/// The maximum number of members that an error describes one by one.
const DESCRIBED: usize = 3;

impl OtherParts {
    fn new(path: &Path) -> Self {
        Self { file: Place::file(path), recognised: false, list: Vec::new(), damage: None }
    }

    /// Returns true if the file or any of these members is damaged.
    fn is_harmed(&self) -> bool {
        self.damage.is_some() || self.list.iter().any(|(_, fault)| fault.harm)
    }

    /// Returns a note for each part that was skipped, or an error if the file contains nothing else.
    fn notes(mut self) -> Result<Vec<String>> {
        if self.recognised {
            return Ok(left_out(&self.file, &self.list));
        }
        if self.list.len() == 1
            && let Some((place, fault)) = self.list.pop()
        {
            return Err(fault.at(place));
        }
        if let Some(fault) = self.damage.filter(|_| self.list.is_empty()) {
            return Err(fault.lost().at(self.file));
        }
        let mut problem = match self.list.len() {
            0 => "is a zip without a file".to_owned(),
            count => format!("none of its {count} members is a log or a CPU export"),
        };
        for (place, fault) in self.list.iter().take(DESCRIBED) {
            problem.push_str(&format!("; {} {fault}", place.member.as_deref().unwrap_or_default()));
        }
        Err(Fault::new(ErrorKind::NoLogInZip, problem, "Give the zip with the log.").at(self.file))
    }
}

/// Refuses a file that is named twice, since its requests would be counted twice.
pub(crate) fn refuse_named_twice(files: &[PathBuf]) -> Result<()> {
    let mut seen = Vec::new();
    for file in files {
        let same = if file.as_os_str() == "-" { Some(file.clone()) } else { file.canonicalize().ok() };
        if let Some(same) = same {
            if seen.contains(&same) {
                let problem = format!("{} is named twice", Place::file(file));
                return Err(Error::usage(ErrorKind::NamedTwice, problem, "Name each file once."));
            }
            seen.push(same);
        }
    }
    Ok(())
}
