//! Fonts for the characters that the shipped font of pages lacks: those of the system, or those that are given.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use perfpipe_ingest::RunInfo;
use perfpipe_plot::{FallbackFont, Style, missing_characters};

use super::warn;
use crate::args::{PageFormat, PageOptions};
use crate::error::CliError;

/// The environment variable that has the value of `--fonts` if the flag is not given.
const VARIABLE: &str = "PERFPIPE_FONTS";

/// The folders that systems have their fonts in, and those within the user's own folder.
const OF_SYSTEM: [&str; 5] = [
    "/usr/share/fonts",
    "/usr/local/share/fonts",
    "/System/Library/Fonts",
    "/Library/Fonts",
    "C:\\Windows\\Fonts",
];
const OF_USER: [&str; 3] = [".local/share/fonts", ".fonts", "Library/Fonts"];

/// Fonts of many characters that go well with the shipped one, by the beginning of their file's name, the best first.
const PREFERRED: [&str; 14] = [
    "notosanscjk",
    "sourcehansans",
    "wqy-microhei",
    "wqy-zenhei",
    "droidsansfallbackfull",
    "droidsansfallback",
    "pingfang",
    "hiragino sans",
    "msyh",
    "yugoth",
    "malgun",
    "notosans-regular",
    "notosans",
    "arial unicode",
];

/// Parts of file names of fonts that do not look like the shipped one.
const UNLIKE: [&str; 7] = ["bold", "italic", "oblique", "serif", "mono", "black", "thin"];

/// Limits: on the depth of folders, on the number of files that are read and their size in bytes, on fonts in a file.
const DEPTH: usize = 6;
const FILES: usize = 300;
const LARGEST: u64 = 64 << 20;
const FACES: u32 = 16;

/// The fonts that a command may use.
enum Choice {
    /// Those of the system.
    System,
    None,
    /// A file, or the files of a folder.
    Given(PathBuf),
}

impl Choice {
    fn of(options: &PageOptions<'_>) -> Self {
        let variable = || std::env::var_os(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
        match options.sheet.fonts.clone().or_else(variable) {
            None => Self::System,
            Some(path) if path == Path::new("system") => Self::System,
            Some(path) if path == Path::new("none") => Self::None,
            Some(path) => Self::Given(path),
        }
    }
}

/// Checks that the fonts that are given can be read, before any work is done.
///
/// # Errors
/// If there is no such file or folder, or if it is a file without a font.
pub(crate) fn check(options: &PageOptions<'_>) -> Result<()> {
    let Choice::Given(path) = Choice::of(options) else { return Ok(()) };
    let problem = match path.is_dir() || !faces(&path).is_empty() {
        true => return Ok(()),
        false if path.exists() => "it has no TrueType or OpenType font that may be embedded",
        false => "there is no such file or folder",
    };
    let problem = format!("can't use the fonts of {}: {problem}", path.display());
    Err(CliError::usage(problem, "Give --fonts a font file, a folder of fonts, system or none.").into())
}

/// Returns the style of pages with these texts, and fonts for the characters in them.
pub(crate) fn styled<'a>(options: &PageOptions<'_>, texts: impl IntoIterator<Item = &'a str>) -> Style {
    // An SVG leaves the fonts to its viewer.
    let draws = |format: &PageFormat| matches!(format, PageFormat::Pdf | PageFormat::Png);
    let missing: BTreeSet<char> = match options.formats().iter().any(draws) {
        true => texts.into_iter().flat_map(missing_characters).collect(),
        false => BTreeSet::new(),
    };
    let (files, is_system) = match Choice::of(options) {
        _ if missing.is_empty() => return options.style(),
        Choice::None => return options.style(),
        Choice::System => (system_files(), true),
        Choice::Given(path) if path.is_dir() => (font_files([path]), false),
        Choice::Given(path) => (vec![path], false),
    };
    let (fonts, missing) = covering(&files, missing);
    if !missing.is_empty() {
        let whose = if is_system { "no font of this system" } else { "none of the fonts given" };
        let characters: String = missing.into_iter().collect();
        warn(&format!(
            "{whose} has the characters {characters}: pages show their code points, as in <U+914D>. Install a \
             font that has them, or give one with --fonts FILE"
        ));
    }
    options.style().with_fallback_fonts(fonts)
}

/// Returns the texts of a run that are on its pages.
pub(crate) fn texts(info: &RunInfo) -> impl Iterator<Item = &str> {
    let files = info.sources.iter().flat_map(|source| [Some(source.file.as_str()), source.member.as_deref()]);
    [info.key.framework.as_str(), &info.key.test].into_iter().chain(files.flatten())
}

/// Returns fonts that have the missing characters, and the characters that none of them has.
fn covering(files: &[PathBuf], mut missing: BTreeSet<char>) -> (Vec<FallbackFont>, BTreeSet<char>) {
    let mut fonts = Vec::new();
    for file in files.iter().take(FILES) {
        if missing.is_empty() {
            break;
        }
        let has_any = |font: &FallbackFont| missing.iter().any(|c| font.has(*c));
        if let Some(font) = faces(file).into_iter().find(has_any) {
            missing.retain(|c| !font.has(*c));
            fonts.push(font);
        }
    }
    (fonts, missing)
}

/// Returns the fonts in a file; none if it can't be read.
fn faces(file: &Path) -> Vec<FallbackFont> {
    let is_small = std::fs::metadata(file).is_ok_and(|found| found.is_file() && found.len() <= LARGEST);
    let Some(bytes) = is_small.then(|| std::fs::read(file).ok()).flatten() else { return Vec::new() };
    let bytes = Arc::new(bytes);
    (0..FACES).map_while(|face| FallbackFont::new(Arc::clone(&bytes), face)).collect()
}

/// Returns the font files of the system, the best first.
fn system_files() -> Vec<PathBuf> {
    let home = std::env::home_dir();
    let of_user = OF_USER.iter().filter_map(|folder| Some(home.as_ref()?.join(folder)));
    font_files(OF_SYSTEM.iter().map(PathBuf::from).chain(of_user))
}

/// Returns the font files in folders and the folders within them, the best first.
fn font_files(folders: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for folder in folders {
        add_files(&folder, DEPTH, &mut files);
    }
    files.sort_by_cached_key(|file| (place(file), file.clone()));
    files
}

fn add_files(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        if ["ttf", "otf", "ttc", "otc"].contains(&ending.as_str()) {
            files.push(path);
        } else if depth > 0 && path.is_dir() {
            add_files(&path, depth - 1, files);
        }
    }
}

/// Returns the place of a font in the order of preference.
fn place(file: &Path) -> usize {
    let name = file.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
    let known = PREFERRED.iter().position(|known| name.starts_with(known)).unwrap_or(PREFERRED.len());
    let unlike = UNLIKE.iter().any(|part| name.contains(part));
    known + if unlike { PREFERRED.len() + 1 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fonts_that_look_like_the_shipped_one_come_first() {
        let mut files =
            ["z/Arial.ttf", "NotoSerifCJK.ttc", "a/NotoSansCJK-Bold.ttc", "b/NotoSansCJK-Regular.ttc"]
                .map(PathBuf::from);
        files.sort_by_cached_key(|file| place(file));
        let expected =
            ["b/NotoSansCJK-Regular.ttc", "z/Arial.ttf", "a/NotoSansCJK-Bold.ttc", "NotoSerifCJK.ttc"];
        assert_eq!(files, expected.map(PathBuf::from));
    }

    #[test]
    fn files_without_a_font_have_no_faces() {
        assert!(faces(Path::new(env!("CARGO_MANIFEST_DIR"))).is_empty());
        assert!(faces(&Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).is_empty());
        assert!(faces(Path::new("/no/such/font.ttf")).is_empty());
        let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plot/font/DejaVuSans.ttf");
        assert_eq!(faces(&shipped).len(), 1);
        let (fonts, missing) = covering(&[shipped], BTreeSet::from(['配']));
        assert!(fonts.is_empty() && missing.len() == 1);
    }
}
