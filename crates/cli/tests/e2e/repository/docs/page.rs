//! A page whose blocks are run, one after another, in a folder of their own.

use std::path::{Path, PathBuf};

use super::block::{Block, blocks};
use super::root;
use super::session::Session;
use super::workshop::Workshop;

/// Why a block may be left out.
pub(super) const NO_RUN: [(&str, &str); 5] = [
    ("citus", "needs Citus"),
    ("cloud", "needs a cloud account"),
    ("package", "needs what `.ci/release` builds"),
    ("trino", "needs Trino"),
    ("slow", "over 60 s"),
];

/// Languages whose blocks are files, or outputs.
const DATA: [&str; 6] = ["toml", "json", "csv", "xml", "md", "text"];

/// A page and its blocks.
pub(super) struct Page {
    path: PathBuf,
    text: String,
    blocks: Vec<Block>,
}

impl Page {
    pub(super) fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(root().join(path)).unwrap();
        Self { path: path.into(), blocks: blocks(&text), text }
    }

    /// Where the blocks stand that are not run, and why.
    pub(super) fn not_run(&self) -> Vec<String> {
        let told = |block: &Block| {
            let reason = block.value("no-run")?;
            let words = NO_RUN.iter().find(|(name, _)| *name == reason);
            Some(format!("{}: {}", self.place(block), words.map_or("?", |(_, words)| words)))
        };
        self.blocks.iter().filter_map(told).collect()
    }

    /// How many blocks are run.
    pub(super) fn executed(&self) -> usize {
        let run = |block: &&Block| {
            block.value("no-run").is_none() && ["console", "sh", "sql", "rust"].contains(&&*block.language)
        };
        self.blocks.iter().filter(run).count()
    }

    fn place(&self, block: &Block) -> String {
        format!("{}:{}", self.path.display(), block.first_line)
    }

    fn uses_database(&self) -> bool {
        let names_one = |block: &Block| block.language == "sql" || block.text().contains("postgres://");
        self.blocks.iter().any(|block| block.value("no-run").is_none() && names_one(block))
    }

    /// Runs all blocks, and gives what was not as the page says; with `UPDATE_GOLDEN` writes it into the page.
    pub(super) fn run(&self, workshop: &Workshop) -> Vec<String> {
        let mut faults: Vec<String> = self.blocks.iter().filter_map(|block| self.unfit(block)).collect();
        let database = match self.uses_database() {
            false => None,
            true => match workshop.database(&self.text) {
                None => return faults,
                some => some,
            },
        };
        let folder = workshop.folder(&self.text);
        let session = Session { folder: folder.path(), server: database.as_ref().map(|(server, _)| *server) };
        let mut new = Vec::new();
        let mut printed = String::new();
        for block in self.blocks.iter().filter(|block| block.value("no-run").is_none()) {
            let (told, wrong) = session.block(block, &mut printed);
            faults.extend(wrong.map(|wrong| format!("{}: {wrong}", self.place(block))));
            if told != block.lines {
                new.push((block, told));
            }
        }
        let update = std::env::var_os("UPDATE_GOLDEN").is_some();
        if update {
            self.rewrite(&new);
        } else {
            faults.extend(new.iter().map(|(block, told)| {
                format!(
                    "{}: expected\n{}\nprinted\n{}",
                    self.place(block),
                    block.lines.join("\n"),
                    told.join("\n")
                )
            }));
        }
        faults
    }

    /// Says why a block can't be treated at all.
    fn unfit(&self, block: &Block) -> Option<String> {
        let known_reason = |reason: &str| NO_RUN.iter().any(|(name, _)| *name == reason);
        let wrong = match &*block.language {
            _ if block.value("no-run").is_some_and(|reason| !known_reason(reason)) => {
                format!("no-run needs one of the reasons {NO_RUN:?}")
            }
            "" => "the block has no language".into(),
            "console" | "sh" | "sql" | "text" | "mermaid" => return None,
            "rust" if block.has("ignore") => "a doctest that is ignored shows nothing".into(),
            "rust" if is_doctest(&self.path) => return None,
            "rust" => "no crate includes this page for its doctests".into(),
            language if !DATA.contains(&language) => format!("`{language}` is not known here"),
            _ if block.has("output") => return None,
            _ => match block.value("file") {
                None => "say with file:NAME where this is written, or with output what prints it".into(),
                Some(name) if self.uses_file(block, name) => return None,
                Some(name) => format!("no command below uses {name}"),
            },
        };
        Some(format!("{}: {wrong}", self.place(block)))
    }

    fn uses_file(&self, file: &Block, name: &str) -> bool {
        self.blocks.iter().any(|block| block.first_line > file.first_line && block.text().contains(name))
    }

    /// Puts new lines in the place of a block's own.
    fn rewrite(&self, new: &[(&Block, Vec<String>)]) {
        let mut lines: Vec<String> = self.text.lines().map(str::to_owned).collect();
        for (block, told) in new.iter().rev() {
            lines.splice(block.first_line..block.first_line + block.lines.len(), told.iter().cloned());
        }
        if !new.is_empty() {
            std::fs::write(root().join(&self.path), lines.join("\n") + "\n").unwrap();
        }
    }
}

/// Whether a crate includes the page, so that rustdoc runs its blocks.
fn is_doctest(page: &Path) -> bool {
    let include = format!("include_str!(\"../../../{}\")", page.display());
    let crates = std::fs::read_dir(root().join("crates")).unwrap();
    let mut libraries = crates.map(|entry| entry.unwrap().path().join("src/lib.rs"));
    libraries.any(|library| std::fs::read_to_string(library).is_ok_and(|text| text.contains(&include)))
}
