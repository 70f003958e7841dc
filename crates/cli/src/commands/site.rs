//! `perfpipe site`: writes a store as a site of static files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Args;
use perfpipe_analyze::format::counted;
use perfpipe_analyze::{League, Rule, RunFigures, View};
use perfpipe_ingest::{RunInfo, RunKey, Store, StoredRun};
use perfpipe_plot::{
    SITE_FILES, SiteIndex, SiteRun, SiteTest, figures_of_script, run_file, run_script, site_test,
};

use super::report::ShownRun;
use crate::allocator;
use crate::args::{OutputArgs, StoreArgs};
use crate::error::CliError;
use crate::input::left_out::LeftOut;
use crate::input::versions::{By, trends_of};
use crate::input::{open_plain, runs::RunNames, store, text_of, view};
use crate::output::done::{DoneRow, DoneTable};
use crate::output::unfinished::is_unfinished;
use crate::output::{Output, note, page_folder};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    perfpipe site public\n  \
    perfpipe site public --title 'nightly runs' --rules rules.toml\n\n\
    Open DIR/index.html in a browser, or copy DIR to any web server or bucket: it is files alone, and needs no other. Called \
    again, it writes what is new or changed, and removes runs that the store no longer has.")]
pub(crate) struct SiteArgs {
    /// Folder of the site: a new one, or one that this command made
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Name of the site [default: as it is, at first the folder's]
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    #[command(flatten)]
    pub(crate) shown: ShownArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// What a site shows of its runs.
#[derive(Debug, Default, Args)]
pub(crate) struct ShownArgs {
    /// What makes runs one version in the trends: tag:KEY, day, or run [default: the tag commit, version, release or build that
    /// most runs have, otherwise day]
    #[arg(long, value_name = "WHAT")]
    pub(crate) by: Option<By>,
    /// TOML file of rules, as for `perfpipe check`: the site shows which runs passed
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Option<PathBuf>,
    /// Address of a version's own page, with {} for its name: `https://github.com/OWNER/REPO/commit/{}` [default: as it is, at
    /// first none]
    #[arg(long, value_name = "URL", value_parser = version_url)]
    pub(crate) version_url: Option<String>,
}

/// Parses the address of a version's page.
fn version_url(text: &str) -> Result<String, String> {
    let is_web =
        ["https://", "http://"].iter().any(|scheme| text.len() > scheme.len() && text.starts_with(scheme));
    let is_plain =
        text.len() < 2048 && text.bytes().all(|b| b.is_ascii_graphic() && !b"\\\"'<>`@".contains(&b));
    let has_host = text
        .split('/')
        .nth(2)
        .is_some_and(|host| host.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '['));
    // Where the name stands in the host, a version would choose the site that its link leads to.
    let in_path = text.splitn(4, '/').nth(3).is_some_and(|path| path.matches("{}").count() == 1);
    let is_one = text.matches("{}").count() == 1;
    let is_good = is_web && is_plain && has_host && in_path && is_one;
    let expected = "expected an address of the web whose path has {} once, such as https://github.com/OWNER/REPO/commit/{}";
    if is_good { Ok(text.to_owned()) } else { Err(expected.to_owned()) }
}

/// Writes the site.
pub(crate) async fn run(args: &SiteArgs, at: &StoreArgs) -> Result<()> {
    let rules = SiteRules::of(args.shown.rules.as_deref())?;
    let store = store::existing(at).await?;
    let mut done = DoneTable::begin(&args.output, false)?;
    let text = SiteText {
        dir: &args.dir,
        title: args.title.as_deref(),
        by: args.shown.by.as_ref(),
        rules: &rules,
        version_url: args.shown.version_url.as_deref(),
    };
    let mut left_out = LeftOut::default();
    let new = |key: &RunKey, name: &str| done.add(DoneRow::of_run("run", "written", key, name));
    let written = write(&text, &store, new, &mut left_out).await;
    let written = written.and_then(|summary| {
        note(&summary);
        left_out.end()
    });
    done.end(written)
}

/// What is written, and where.
pub(super) struct SiteText<'a> {
    pub(super) dir: &'a Path,
    /// The name of the site, unless it is as before.
    pub(super) title: Option<&'a str>,
    /// What makes runs one version, unless it is as usual.
    pub(super) by: Option<&'a By>,
    pub(super) rules: &'a SiteRules,
    /// The address of a version's page, unless it is as before.
    pub(super) version_url: Option<&'a str>,
}

/// Returns true if a folder has a site.
pub(super) fn is_site(folder: &Path) -> bool {
    folder.join("index.html").is_file() && index_of(folder).is_ok_and(|index| index.is_some())
}

/// Returns the list of the runs of the site in a folder; `None` if there is none that this version reads.
pub(super) fn index(folder: &Path) -> Option<SiteIndex> {
    SiteIndex::parse(&index_of(folder).ok()??)
}

/// The rules of the site, and the text of their file.
#[derive(Default)]
pub(super) struct SiteRules {
    rules: Vec<Rule>,
    text: String,
}

impl SiteRules {
    /// Reads a file of rules.
    ///
    /// # Errors
    /// If a run can't be checked against one of them by itself.
    pub(super) fn of(file: Option<&Path>) -> Result<Self> {
        let Some(file) = file else { return Ok(Self::default()) };
        let (rules, text) = (view::rules_of_file(file)?, text_of(file)?);
        let unfit = rules.iter().find(|rule| rule.level().is_some() || rule.needs_baseline());
        match unfit {
            Some(rule) => {
                let problem = format!("{rule}: a site checks each run by itself");
                let remedy = "Leave rules about points and about a baseline to `perfpipe check`.";
                Err(CliError::usage(problem, remedy).into())
            }
            None => Ok(Self { rules, text }),
        }
    }

    /// The text of their file, which is empty without rules.
    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

/// Writes the site of a store, and returns what was done. `new` is called with the key and the name of each run that the
/// site did not have.
pub(super) async fn write(
    text: &SiteText<'_>,
    store: &Store,
    mut new: impl FnMut(&RunKey, &str),
    left_out: &mut LeftOut,
) -> Result<String> {
    let rules = text.rules;
    let site = SiteFolder::open(text.dir)?;
    let stored = left_out.runs(store).await?;
    // A store whose disk is gone looks like an empty one.
    let before = site.before.as_ref().map_or(0, |before| before.runs().len());
    if stored.is_empty() && before > 0 && !left_out.any() {
        let problem = format!("{store} has no runs, and the site has {}", counted(before as u64, "run"));
        let remedy = format!("Check the store; if it is to be so, remove {}.", text.dir.display());
        return Err(CliError::refused(problem, remedy).into());
    }
    let names = RunNames::of(stored.iter().map(|run| &run.key));
    let mut of_test: BTreeMap<&str, Vec<&RunInfo>> = BTreeMap::new();
    stored.iter().for_each(|run| of_test.entry(&run.key.test).or_default().push(run));
    let by = text.by.cloned().unwrap_or_else(|| By::usual(&stored));
    let (mut tests, mut rows) = (Vec::new(), Vec::new());
    for (test, runs) in of_test {
        match site.unchanged(test, &runs, rules, &by) {
            Some((test, runs)) => {
                tests.push(test);
                rows.extend(runs);
            }
            None => {
                let written = site.write_test(&runs, rules, (&by, &names), store, left_out).await?;
                for key in &written.new {
                    new(key, &names.name(key));
                }
                tests.extend(written.test);
                rows.extend(written.runs);
            }
        }
    }
    let before = site.before.as_ref().map(|before| before.name.clone());
    let title = text.title.map(str::to_owned).or(before).unwrap_or_else(|| folder_name(text.dir));
    // Damaged points do not keep the runs from being shown; `perfpipe verify` reports them.
    let points = store.points().await.map_or(0, |points| points.len() as u64);
    let mut index = SiteIndex::new(title, tests, rows, site.before.as_ref()).with_points(points);
    if let Some(url) = text.version_url {
        index.version_url = Some(url.to_owned());
    }
    let mut summary = site.finish(&index)?;
    let without = stored.iter().filter(|run| by.version(run, &names).is_none()).count() as u64;
    if let (By::Tag(key), 1..) = (&by, without) {
        let of = counted(stored.len() as u64, "run");
        summary += &format!("; {without} of {of} lack the tag {key} and are in no trend");
    }
    Ok(summary)
}

/// Returns the name of a folder, for a title.
fn folder_name(folder: &Path) -> String {
    let whole = fs::canonicalize(folder);
    let named = whole.as_deref().unwrap_or(folder).file_name();
    named.map_or_else(|| "perfpipe".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// The folder of a site, which nobody else writes to meanwhile.
struct SiteFolder {
    folder: PathBuf,
    /// The site as it was.
    before: Option<SiteIndex>,
    /// Locked until the end.
    _lock: File,
}

/// A test as it was written.
struct WrittenTest {
    /// Absent if none of its runs can be read.
    test: Option<SiteTest>,
    runs: Vec<SiteRun>,
    /// The runs whose files were written.
    new: Vec<RunKey>,
}

/// The list of all runs, by which a folder is known to be a site.
const INDEX: &str = "runs.js";

/// The most bytes that are read of it, some hundred thousand runs, and of the file of a run.
const LARGEST: u64 = 128 << 20;

/// The folders of its files.
const PARTS: [&str; 2] = ["runs", "tests"];

/// How each of these files ends.
const END: &str = ");\n";

/// The file that is locked, and what is in it, by which a folder is known whose first site was not finished.
const LOCK: &str = "site.lock";
const BEGUN: &str = "perfpipe site\n";

impl SiteFolder {
    /// Opens a folder that is new, empty, or a site, and locks it.
    fn open(folder: &Path) -> Result<Self> {
        if index_of(folder)?.is_none() && !is_begun(folder) && !is_empty(folder)? {
            let problem = format!("{} is not empty, and not a site of perfpipe", folder.display());
            return Err(CliError::usage(problem, "Name another folder, or empty this one.").into());
        }
        page_folder(folder)?;
        for part in PARTS {
            let path = folder.join(part);
            page_folder(&path)?;
            // What is written and removed there would be somebody else's.
            if path.symlink_metadata().is_ok_and(|found| !found.is_dir()) {
                let problem = format!("{} is a link", path.display());
                return Err(CliError::refused(problem, "Remove it.").into());
            }
        }
        let lock = locked(folder)?;
        // Another process may have ended meanwhile. A site of another version is written again.
        let before = index_of(folder)?.and_then(|text| SiteIndex::parse(&text));
        Ok(Self { folder: folder.to_owned(), before, _lock: lock })
    }

    /// Returns what the site has of a test, if nothing of it changed.
    fn unchanged(
        &self,
        test: &str,
        runs: &[&RunInfo],
        rules: &SiteRules,
        by: &By,
    ) -> Option<(SiteTest, Vec<SiteRun>)> {
        let before = self.before.as_ref()?;
        let known = before.tests().iter().find(|known| known.name == test && known.by == by.to_string())?;
        let rows: Vec<SiteRun> = before.runs().iter().filter(|row| row.key().test == test).cloned().collect();
        let files: BTreeSet<String> = runs.iter().map(|run| run_file(run, &rules.text)).collect();
        let of_rows: BTreeSet<String> = rows.iter().map(|row| row.file.clone()).collect();
        let is_same = rows.len() == runs.len() && of_rows == files;
        let of_test = std::iter::once(&known.file).chain(&known.trend);
        let are_there = of_test.chain(&files).all(|file| self.has(file));
        (is_same && are_there).then(|| (known.clone(), rows))
    }

    /// Returns true if the site has a file as a whole: one that was cut short does not end as it is written.
    fn has(&self, file: &str) -> bool {
        let ends = |path: &Path| -> io::Result<bool> {
            let mut script = open_plain(path)?;
            script.seek(SeekFrom::End(-(END.len() as i64)))?;
            let mut end = [0; END.len()];
            script.read_exact(&mut end)?;
            Ok(end == END.as_bytes())
        };
        is_file_of_site(file) && ends(&self.folder.join(file)).unwrap_or_default()
    }

    /// Returns what the site had of a run, by its file, and the figures in it. Those that are not of the run as the store has
    /// it are of no use.
    fn known(&self, file: &str, info: &RunInfo) -> Option<(SiteRun, RunFigures)> {
        let row = self.before.as_ref()?.runs().iter().find(|row| row.file == file)?;
        let mut script = String::new();
        open_plain(&self.folder.join(file)).ok()?.take(LARGEST).read_to_string(&mut script).ok()?;
        let figures = figures_of_script(&script)?;
        let own = RunFigures::info_of(info);
        let is_of_run = figures.timeline.info == own && *figures.measured.info() == own;
        is_of_run.then(|| (row.clone(), figures))
    }

    /// Writes the runs of a test that the site does not have, their league, and their trend.
    async fn write_test(
        &self,
        runs: &[&RunInfo],
        rules: &SiteRules,
        (by, names): (&By, &RunNames),
        store: &Store,
        left_out: &mut LeftOut,
    ) -> Result<WrittenTest> {
        let mut written = WrittenTest { test: None, runs: Vec::new(), new: Vec::new() };
        let (mut timelines, mut measured) = (Vec::new(), Vec::new());
        for info in runs {
            let file = run_file(info, &rules.text);
            let (row, figures) = match self.known(&file, info) {
                Some(known) => known,
                None => {
                    let read = store.read(&info.key).await.map_err(Into::into);
                    let Some(run) = left_out.or_leave_out(&info.key, read)? else { continue };
                    written.new.push(info.key.clone());
                    self.write_run(run, file, rules)?
                }
            };
            written.runs.push(row);
            timelines.push(figures.timeline);
            measured.push(figures.measured);
        }
        if timelines.is_empty() {
            return Ok(written);
        }
        let infos = timelines.iter().map(|timeline| timeline.info.clone()).collect();
        let trends = trends_of(infos, measured, by, names);
        let files = site_test(&League::new(&timelines)?, &timelines, &trends, &by.to_string())?;
        for (file, text) in &files.files {
            self.put(file, text)?;
        }
        written.test = Some(files.test);
        Ok(written)
    }

    /// Writes the file of a run, and returns its row and its figures.
    fn write_run(&self, run: StoredRun, file: String, rules: &SiteRules) -> Result<(SiteRun, RunFigures)> {
        let (view, cores) = (View::of(&run.info), run.info.options.cores);
        let run = ShownRun::new(run, &view, &rules.rules, cores)?;
        let shown = run.shown();
        self.put(&file, &run_script(&shown, &run.figures)?)?;
        let row = SiteRun::new(&shown, file);
        let figures = RunFigures::parse(&run.figures)?;
        drop(run);
        allocator::give_back();
        Ok((row, figures))
    }

    /// Writes a file as a whole, unless it is there as it is to be.
    fn put(&self, file: &str, text: &str) -> Result<()> {
        let path = self.folder.join(file);
        let mut found = Vec::new();
        // One byte more than the text shows that the file is another one.
        let read =
            open_plain(&path).and_then(|file| file.take(text.len() as u64 + 1).read_to_end(&mut found));
        if read.is_ok() && found == text.as_bytes() {
            return Ok(());
        }
        // A pipe would be written to, and nobody reads it.
        if path.symlink_metadata().is_ok_and(|found| !found.is_file()) {
            let problem = format!("{} is no plain file", path.display());
            return Err(CliError::refused(problem, "Remove it.").into());
        }
        let mut output = Output::open(Some(&path))?;
        output.write_all(text.as_bytes())?;
        output.finish()
    }

    /// Makes the new site of what was written, and removes the files that only the old one has. Returns what was done.
    fn finish(&self, index: &SiteIndex) -> Result<String> {
        for (file, text) in SITE_FILES {
            self.put(file, text)?;
        }
        self.put("index.html", &index.page())?;
        self.put(INDEX, &index.script()?)?;
        let new = files_of(index);
        for part in ["", PARTS[0], PARTS[1]] {
            for entry in fs::read_dir(self.folder.join(part))?.filter_map(std::result::Result::ok) {
                let name = entry.file_name();
                let file = format!("{part}/{}", name.to_string_lossy());
                // Nobody else writes here, so what the list does not have is of before, or of a writer that was killed.
                let is_left =
                    has_digest(&file) && !new.contains(&file) || is_unfinished(&name.to_string_lossy());
                if is_left && entry.file_type().is_ok_and(|kind| !kind.is_dir()) {
                    fs::remove_file(entry.path()).with_context(|| format!("can't remove {file}"))?;
                }
            }
        }
        let keys =
            |index: &SiteIndex| -> BTreeSet<RunKey> { index.runs().iter().map(SiteRun::key).collect() };
        let files = |index: &SiteIndex| -> BTreeSet<String> {
            index.runs().iter().map(|run| run.file.clone()).collect()
        };
        let old = self.before.clone().unwrap_or_default();
        let written = files(index).difference(&files(&old)).count();
        let removed = keys(&old).difference(&keys(index)).count();
        Ok(format!(
            "{} of {} in {}: {written} written, {removed} removed; open {}",
            counted(index.runs().len() as u64, "run"),
            counted(index.tests().len() as u64, "test"),
            self.folder.display(),
            self.folder.join("index.html").display(),
        ))
    }
}

/// Reads the list of all runs; `None` if there is none. A pipe in its place is refused, since nothing could end the wait for it.
fn index_of(folder: &Path) -> Result<Option<String>> {
    let mut bytes = Vec::new();
    let read = open_plain(&folder.join(INDEX)).and_then(|file| file.take(LARGEST).read_to_end(&mut bytes));
    match read {
        Ok(_) => {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            Ok(text.starts_with("perfpipe.store(").then_some(text))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("can't read {}", folder.join(INDEX).display())),
    }
}

/// Locks a folder. What stands in the place of the file is not changed, and nothing but a file is opened.
///
/// # Errors
/// If another process has locked it.
fn locked(folder: &Path) -> Result<File> {
    let path = folder.join(LOCK);
    let is_other = path.symlink_metadata().is_ok_and(|found| !found.is_file());
    let opened = match is_other {
        true => Err(io::Error::other("it is no plain file")),
        false => OpenOptions::new().create(true).append(true).open(&path),
    };
    let lock = opened.with_context(|| format!("can't write {}", path.display()))?;
    if lock.try_lock().is_err() {
        let problem = format!("another process writes the site {}", folder.display());
        return Err(CliError::refused(problem, "Wait for its end.").into());
    }
    if lock.metadata().is_ok_and(|found| found.len() == 0) {
        (&lock).write_all(BEGUN.as_bytes()).with_context(|| format!("can't write {}", path.display()))?;
    }
    Ok(lock)
}

/// Returns true if this command began a site in a folder.
fn is_begun(folder: &Path) -> bool {
    let mut found = String::new();
    let read = open_plain(&folder.join(LOCK)).and_then(|file| file.take(64).read_to_string(&mut found));
    read.is_ok() && found == BEGUN
}

/// Returns the files of the runs and the tests of a site.
fn files_of(index: &SiteIndex) -> BTreeSet<String> {
    let runs = index.runs().iter().map(|run| &run.file);
    let tests = index.tests().iter().flat_map(|test| std::iter::once(&test.file).chain(&test.trend));
    runs.chain(tests).filter(|file| is_file_of_site(file)).cloned().collect()
}

/// Returns true for names that the files of runs and tests have: what somebody else wrote into the list names no file outside
/// of the site.
fn is_file_of_site(file: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let name = PARTS.iter().find_map(|part| file.strip_prefix(part)?.strip_prefix('/'));
    name.and_then(|name| name.strip_suffix(".js")).is_some_and(|name| name.chars().all(plain))
}

/// Returns true for names of files of runs and tests that this command chose: they end with a digest.
fn has_digest(file: &str) -> bool {
    let digest = file.strip_suffix(".js").and_then(|name| name.rsplit_once('-')).map(|(_, digest)| digest);
    let is_hexadecimal =
        |digest: &str| digest.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    is_file_of_site(file) && digest.is_some_and(|digest| digest.len() == 12 && is_hexadecimal(digest))
}

/// Returns true if another process writes the site in a folder.
pub(super) fn is_written_elsewhere(folder: &Path) -> bool {
    let lock = open_plain(&folder.join(LOCK));
    lock.is_ok_and(|lock| matches!(lock.try_lock(), Err(TryLockError::WouldBlock)))
}

/// Returns true if there is no such folder, or nothing in it but what an interrupted start left: folders with nothing in them,
/// and a file to lock without anything in it.
fn is_empty(folder: &Path) -> Result<bool> {
    let is_left = |entry: fs::DirEntry| match PARTS.iter().any(|name| entry.file_name() == *name) {
        true => fs::read_dir(entry.path()).is_ok_and(|mut found| found.next().is_none()),
        false => {
            entry.file_name() == LOCK
                && entry.metadata().is_ok_and(|found| found.is_file() && found.len() == 0)
        }
    };
    match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
        found => {
            let mut found = found.with_context(|| format!("can't read {}", folder.display()))?;
            Ok(found.all(|entry| entry.is_ok_and(is_left)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_stands_in_the_path_of_an_address_of_the_web() {
        for good in ["https://github.com/o/r/commit/{}", "http://host/?rev={}", "https://host:8080/{}"] {
            assert_eq!(version_url(good).unwrap(), good);
        }
        let bad = [
            "javascript:{}",
            "https://{}/a",
            "https://{}.host/a",
            "https://host/",
            "https://host/{}/{}",
            "//host/{}",
            "https://host/ {}",
            "file:///{}",
            "https://",
            "https:///{}",
            "https:////{}",
            "https://\\/{}",
            "https://@/{}",
            "https://:80/{}",
            "https://?/{}",
            "https://a:b@host/{}",
            "https://host/\u{202e}{}",
            "https://host/\"{}",
        ];
        for bad in bad {
            assert!(version_url(bad).unwrap_err().contains("commit/{}"), "{bad}");
        }
    }
}
