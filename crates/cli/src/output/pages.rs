//! Files of pages: names that are unique for what a page shows, and their writing.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use perfpipe_analyze::View;
use perfpipe_ingest::RunKey;
use perfpipe_ingest::source::TimeZone;
use perfpipe_plot::{ColorBy, LoadFigure, Page, RunFigure, TestFigure, Times};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::Output;
use super::say::print_written;
use crate::args::{FigureArgs, FigureChoice, PageFormat, PageOptions, RunsArgs, ScopeArgs, ViewArgs};

/// The separator before each choice in a name; names of runs and tests do not contain it.
const CHOICE: char = '+';

/// The largest length of a file name in bytes, without its extension; file systems allow 255.
const FILE_NAME: usize = 120;

/// The subject of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Subject<'a> {
    /// A run over time.
    Run(&'a RunKey),
    /// A run by load.
    Sweep(&'a RunKey),
    /// A run's report.
    RunReport(&'a RunKey),
    /// The runs of a test, drawn over each other.
    Test(&'a str),
    /// A test's report.
    Report(&'a str),
    /// The first run, compared with the second.
    Against(&'a RunKey, &'a RunKey),
    /// The versions of a framework in a test.
    Trend(&'a str, &'a str),
    /// A single figure of a run.
    RunFigure(&'a RunKey, RunFigure),
    /// A single figure of a run by its load.
    LoadFigure(&'a RunKey, LoadFigure),
    /// A single figure of a test.
    TestFigure(&'a str, TestFigure),
}

impl Subject<'_> {
    /// Returns a name for the subject, which other subjects may share.
    fn text(self) -> String {
        let mut text = String::new();
        // Writing to a text can't fail.
        let _ = self.write(&mut text);
        safe(&text)
    }

    fn write(self, out: &mut impl fmt::Write) -> fmt::Result {
        match self {
            Self::Run(key) => out.write_str(&key.name()),
            Self::Sweep(key) => write!(out, "{}_sweep", key.name()),
            Self::RunReport(key) => write!(out, "report_{}", key.name()),
            Self::Test(test) => write!(out, "all-frameworks_{test}"),
            Self::Report(test) => write!(out, "report_{test}"),
            Self::Against(key, other) => write!(out, "{}_against_{}", key.name(), other.name()),
            Self::Trend(framework, test) => write!(out, "{framework}_{test}_trend"),
            Self::RunFigure(key, figure) => write!(out, "{}_{}", key.name(), figure.name()),
            Self::LoadFigure(key, figure) => write!(out, "{}_{}", key.name(), figure.name()),
            Self::TestFigure(test, figure) => write!(out, "{test}_{}", figure.name()),
        }
    }

    /// Returns the hash of its name in lower case, without making the name: a store may have very many.
    fn text_hash(self) -> u64 {
        let mut hash = Hash::default();
        let _ = self.write(&mut hash);
        hash.0
    }

    /// Returns a text that identifies the subject uniquely.
    fn identity(self) -> String {
        let of_key = |key: &RunKey| format!("{}\0{}\0{}", key.framework, key.test, key.repeat);
        match self {
            Self::Run(key) => format!("run\0{}", of_key(key)),
            Self::Sweep(key) => format!("sweep\0{}", of_key(key)),
            Self::RunReport(key) => format!("report\0{}", of_key(key)),
            Self::Test(test) => format!("test\0{test}"),
            Self::Report(test) => format!("tests\0{test}"),
            Self::Against(key, other) => format!("against\0{}\0{}", of_key(key), of_key(other)),
            Self::Trend(framework, test) => format!("trend\0{framework}\0{test}"),
            Self::RunFigure(key, figure) => format!("figure\0{}\0{}", figure.name(), of_key(key)),
            Self::LoadFigure(key, figure) => format!("loads\0{}\0{}", figure.name(), of_key(key)),
            Self::TestFigure(test, figure) => format!("figures\0{}\0{test}", figure.name()),
        }
    }
}

/// The file names of the pages of a store's runs.
pub(crate) struct PageNames {
    /// The number of subjects for each name in lower case, of which the hash is kept: there may be many.
    shared: HashMap<u64, usize>,
}

impl PageNames {
    /// Collects the names for the runs with these keys and their tests, and for these figures of them.
    pub(crate) fn of(keys: &[RunKey], figures: &[FigureChoice]) -> Self {
        let runs: BTreeSet<&RunKey> = keys.iter().collect();
        let trends: BTreeSet<_> =
            keys.iter().map(|key| (key.framework.as_str(), key.test.as_str())).collect();
        let tests: BTreeSet<&str> = keys.iter().map(|key| key.test.as_str()).collect();
        let of_figures = figures.iter().flat_map(|figure| -> Vec<Subject<'_>> {
            match *figure {
                FigureChoice::Run(figure) => runs.iter().map(|key| Subject::RunFigure(key, figure)).collect(),
                FigureChoice::Load(figure) => {
                    runs.iter().map(|key| Subject::LoadFigure(key, figure)).collect()
                }
                FigureChoice::Test(figure) => {
                    tests.iter().map(|test| Subject::TestFigure(test, figure)).collect()
                }
            }
        });
        let of_runs =
            runs.iter().flat_map(|key| [Subject::Run(key), Subject::Sweep(key), Subject::RunReport(key)]);
        let of_trends = trends.into_iter().map(|(framework, test)| Subject::Trend(framework, test));
        let of_tests = tests.iter().flat_map(|test| [Subject::Test(test), Subject::Report(test)]);
        let mut shared = HashMap::new();
        for subject in of_runs.chain(of_trends).chain(of_tests).chain(of_figures) {
            *shared.entry(subject.text_hash()).or_default() += 1;
        }
        Self { shared }
    }

    /// Returns true if other subjects share the name of this one, or that of a run in it.
    fn is_shared(&self, subject: Subject<'_>) -> bool {
        match subject {
            Subject::Against(key, other) => {
                [key, other].into_iter().any(|key| self.is_shared(Subject::Run(key)))
            }
            subject => self.shared.get(&subject.text_hash()).is_some_and(|pages| *pages > 1),
        }
    }

    /// Returns the name of a page's file, without its extension: the subject's name, with a hash if other subjects
    /// share it, and the choices.
    fn page(&self, subject: Subject<'_>, choices: &[String]) -> String {
        let mut name = subject.text();
        if self.is_shared(subject) {
            name.push_str(&format!("-{:08x}", hash(&subject.identity()) >> 32));
        }
        for choice in choices {
            name.push(CHOICE);
            name.push_str(choice);
        }
        if name.len() > FILE_NAME {
            let hash = hash(&format!("{}\0{}", subject.identity(), choices.join("\0")));
            name.truncate(name.floor_char_boundary(FILE_NAME));
            name.push_str(&format!("-{hash:016x}"));
        }
        if name.starts_with('.') { format!("-{name}") } else { name }
    }
}

/// Returns the choices of a view that differ from the default, as parts of a file name.
pub(crate) fn choices(args: &ViewArgs) -> Vec<String> {
    let ScopeArgs { from, to, phase, label, transactions, include_failures, top_level, injectors, cpu } =
        &args.scope;
    let number = |name: &str, number: Option<i64>| number.map(|number| format!("{name}-{number}"));
    let flag = |name: &str, given: bool| given.then(|| name.to_owned());
    let percentiles = || {
        let all: Vec<String> = args.percentiles().iter().map(|percent| format!("p{percent}")).collect();
        all.join("-")
    };
    [
        label.as_deref().map(|label| chosen_text("label", label)),
        phase.map(|phase| phase.name().to_owned()),
        number("from", from.map(i64::from)),
        number("to", to.map(i64::from)),
        flag("transactions", *transactions),
        flag("failures", *include_failures),
        flag("top-level", *top_level),
        number("injectors", injectors.injectors.map(i64::from)),
        number("cpu-offset", cpu.cpu_offset),
        number("cpu-lookback", cpu.cpu_lookback.map(i64::from)),
        (args.percentiles() != View::default().percentiles).then(percentiles),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns the choices of any page that change what its axes show, as parts of a file name. Those that only change how it
/// looks, as the paper, are not in names.
pub(crate) fn looks(options: &PageOptions<'_>) -> Vec<String> {
    options.style().log_scale.then(|| "log-scale".to_owned()).into_iter().collect()
}

/// Returns the choices of a page over time that change what its axes and colours show, as parts of a file name.
pub(crate) fn looks_over_time(options: &PageOptions<'_>) -> Vec<String> {
    let style = options.style();
    let color = (style.color_by != ColorBy::default()).then(|| format!("by-{}", style.color_by.name()));
    let zone = (style.time_zone != TimeZone::default()).then(|| style.time_zone.to_string());
    let clock = (style.times == Times::Clock)
        .then(|| zone.map_or_else(|| "clock".to_owned(), |zone| chosen_text("clock", &zone)));
    color.into_iter().chain(clock).chain(looks(options)).collect()
}

/// Returns the other store that the baseline of a comparison comes from, as a part of a file name.
pub(crate) fn other_store(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy();
    chosen_text("baseline", &name)
}

/// Returns the choice of a test's runs, as parts of a file name.
pub(crate) fn chosen_runs(args: &RunsArgs) -> Vec<String> {
    // The order in which they are named makes no difference to the page.
    let runs: BTreeSet<&String> = args.run.iter().collect();
    let frameworks: BTreeSet<&String> = args.of.framework.iter().collect();
    let repeats: BTreeSet<u32> = args.of.repeat.iter().copied().collect();
    let tags = args.of.tag.iter().map(|tag| chosen_text("tag", &tag.to_string()));
    let runs = runs.into_iter().map(|run| chosen_text("run", run));
    let frameworks = frameworks.into_iter().map(|framework| chosen_text("only", framework));
    let repeats = repeats.into_iter().map(|repeat| format!("repeat-{repeat}"));
    runs.chain(frameworks).chain(repeats).chain(tags).collect()
}

/// Returns a chosen text as a part of a file name, with a hash if it has to be changed for that.
pub(crate) fn chosen_text(what: &str, text: &str) -> String {
    let safe = safe(text);
    if safe == text { format!("{what}-{safe}") } else { format!("{what}-{safe}-{:08x}", hash(text) >> 32) }
}

/// Makes a text safe for file names: characters that are not safe everywhere become `-`.
fn safe(text: &str) -> String {
    text.chars().map(safe_character).collect()
}

fn safe_character(c: char) -> char {
    if c.is_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' }
}

/// FNV-1a, which is the same in all versions, so that a page overwrites its predecessor. What is written to it is hashed as
/// a name in lower case.
struct Hash(u64);

impl Default for Hash {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hash {
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

impl fmt::Write for Hash {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars().map(safe_character).flat_map(char::to_lowercase) {
            self.add(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
        Ok(())
    }
}

fn hash(text: &str) -> u64 {
    let mut hash = Hash::default();
    hash.add(text.as_bytes());
    hash.0
}

/// Returns a page's file in a format, after its ending. HTML is one file for all pages, and so none of this one.
fn in_format(page: &Page, format: PageFormat, scale: f64) -> Result<Option<(&'static str, Vec<u8>)>> {
    Ok(match format {
        PageFormat::Html => None,
        PageFormat::Svg => Some(("svg", page.svg().into_bytes())),
        PageFormat::Png => Some(("png", perfpipe_plot::png(page, scale)?)),
        PageFormat::Pdf => Some(("pdf", perfpipe_plot::pdf(std::slice::from_ref(page))?)),
    })
}

/// The folder that pages are written into, and the pages written so far.
pub(crate) struct Pages<'a> {
    out: &'a Path,
    options: PageOptions<'a>,
    names: PageNames,
    written: Vec<PathBuf>,
    /// The pages of the one document, if they are to be one.
    document: Vec<Page>,
    /// The file of the one document instead of the folder, if it was named.
    file: Option<(&'a Path, Output)>,
}

impl<'a> Pages<'a> {
    /// Creates the writer; `keys` are those of all runs of the store.
    pub(crate) fn new(out: &'a Path, options: PageOptions<'a>, keys: &[RunKey]) -> Self {
        Self {
            out,
            options,
            names: PageNames::of(keys, &options.figures.map(FigureArgs::chosen).unwrap_or_default()),
            written: Vec::new(),
            document: Vec::new(),
            file: None,
        }
    }

    /// Writes the one document to a file that was named and opened, instead of into the folder.
    pub(crate) fn into_file(self, file: Option<(&'a Path, Output)>) -> Self {
        Self { file, ..self }
    }

    /// Writes a page in the requested formats.
    pub(crate) fn page(&mut self, page: &Page, subject: Subject<'_>, choices: &[String]) -> Result<()> {
        let is_gathered = self.options.one_file && self.options.formats().contains(&PageFormat::Pdf);
        if is_gathered {
            self.gather(page, subject);
        }
        let scale = self.options.png_scale();
        let formats = self.options.formats().iter().copied();
        let formats: Vec<_> = formats.filter(|format| !is_gathered || *format != PageFormat::Pdf).collect();
        let drawn: Result<Vec<_>> =
            formats.par_iter().map(|format| in_format(page, *format, scale)).collect();
        for (ending, bytes) in drawn?.into_iter().flatten() {
            self.write(subject, choices, ending, &[bytes])?;
        }
        Ok(())
    }

    /// Adds a page to the one document, the page of all runs before the others.
    fn gather(&mut self, page: &Page, subject: Subject<'_>) {
        let at = if matches!(subject, Subject::Test(_)) { 0 } else { self.document.len() };
        self.document.insert(at, page.clone());
    }

    /// Writes the pages that were gathered as one document, with what `contents` puts before them.
    pub(crate) fn bind(
        &mut self,
        subject: Subject<'_>,
        choices: &[String],
        contents: impl FnOnce(Vec<Page>) -> Vec<Page>,
    ) -> Result<()> {
        if self.document.is_empty() {
            return Ok(());
        }
        let bytes = perfpipe_plot::pdf(&contents(std::mem::take(&mut self.document)))?;
        self.write(subject, choices, "pdf", &[bytes])
    }

    /// Writes a single-file report, given its texts.
    pub(crate) fn html(&mut self, texts: &[String], subject: Subject<'_>, choices: &[String]) -> Result<()> {
        self.write(subject, choices, "html", texts)
    }

    /// Writes a file, given its parts.
    fn write(
        &mut self,
        subject: Subject<'_>,
        choices: &[String],
        ending: &str,
        parts: &[impl AsRef<[u8]>],
    ) -> Result<()> {
        let (path, mut output) = match self.file.take() {
            Some((path, file)) => (path.to_owned(), file),
            None => {
                let path = self.out.join(format!("{}.{ending}", self.names.page(subject, choices)));
                let output = Output::open(Some(&path))?;
                (path, output)
            }
        };
        for part in parts {
            output.write_all(part.as_ref())?;
        }
        output.finish()?;
        self.written.push(path);
        Ok(())
    }

    /// Prints the files that were written.
    pub(crate) fn print_notes(self) {
        print_written(&self.written);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(keys: &[(&str, &str)]) -> PageNames {
        let key = |(framework, test): &(&str, &str)| RunKey::new(*framework, *test);
        PageNames::of(&keys.iter().map(key).collect::<Vec<_>>(), FigureChoice::ALL)
    }

    fn page_of_run(names: &PageNames, framework: &str, test: &str) -> String {
        names.page(Subject::Run(&RunKey::new(framework, test)), &[])
    }

    #[test]
    fn names_are_safe() {
        let of = |framework: &str| page_of_run(&names(&[(framework, "2048")]), framework, "2048");
        assert_eq!(of("127.0.0.1:9000"), "127.0.0.1-9000_2048");
        assert_eq!(of("../x y"), "-..-x-y_2048");
        assert_eq!(of("Größe"), "Größe_2048");
        let long = "配".repeat(1_000);
        let name = of(&long);
        assert!(name.len() <= 140 && name.starts_with("配配"), "{name}");
        assert_ne!(name, of(&format!("{long}x")));
    }

    #[test]
    fn pages_of_the_same_name_are_told_apart_and_no_others() {
        let keys =
            [("a_b", "c"), ("a", "b_c"), ("Go", "x"), ("go", "x"), ("r 1", "t"), ("r-1", "t"), ("y", "z")];
        let both = names(&keys);
        let pages: BTreeSet<String> =
            keys.iter().map(|(framework, test)| page_of_run(&both, framework, test).to_lowercase()).collect();
        assert_eq!(pages.len(), keys.len(), "{pages:?}");
        assert!(pages.contains("y_z"), "{pages:?}");
        assert_eq!(page_of_run(&names(&[("a_b", "c")]), "a_b", "c"), "a_b_c");
        let against = |key: &RunKey| both.page(Subject::Against(key, &RunKey::new("y", "z")), &[]);
        assert_ne!(against(&RunKey::new("a_b", "c")), against(&RunKey::new("a", "b_c")));
        assert_eq!(against(&RunKey::new("y", "z")), "y_z_against_y_z");
        // The name of a run may look like another's sweep, or like the page of a test.
        for (other, taken) in [("2048_sweep", "go_2048_sweep"), ("x", "all-frameworks_x")] {
            let names = names(&[("go", "2048"), ("go", other), ("all-frameworks", other)]);
            assert_ne!(page_of_run(&names, "go", other), taken);
            assert_ne!(page_of_run(&names, "all-frameworks", other), taken);
        }
        // Or like another's figure.
        let names = names(&[("go", "2048"), ("go", "2048_cpu"), ("2048", "overview")]);
        let cpu = names.page(Subject::RunFigure(&RunKey::new("go", "2048"), RunFigure::Cpu), &[]);
        assert_ne!(page_of_run(&names, "go", "2048_cpu"), cpu);
        let overview = names.page(Subject::TestFigure("2048", TestFigure::Overview), &[]);
        assert_ne!(page_of_run(&names, "2048", "overview"), overview);
    }
}
