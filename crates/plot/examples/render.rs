//! Makes a page of a made-up run and writes it as `run.svg` and `run.pdf` into the folder given, or this one.

#[path = "../tests/support/mod.rs"]
mod support;

use perfpipe_plot::{Page, Style, pdf};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::path::PathBuf::from(std::env::args().nth(1).unwrap_or_default());
    let timeline = support::ramp("perfectnio");

    let page = Page::run(&timeline, &Style::default());
    std::fs::write(folder.join("run.svg"), page.svg())?;
    std::fs::write(folder.join("run.pdf"), pdf(&[page])?)?;
    Ok(())
}
