//! Writes a page of every made-up run as SVG, PDF and PNG into the folder given, to be looked at, with the time each took.

#[path = "../tests/support/mod.rs"]
mod support;

use std::path::Path;
use std::time::Instant;

use perfpipe_plot::{ColorBy, Page, Palette, Paper, Style, pdf, png};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "gallery".to_owned());
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    let style = Style::default();
    for (name, timeline) in support::cases() {
        write(folder, name, || Page::run(&timeline, &style))?;
    }
    for (name, sweep) in support::sweeps() {
        write(folder, &format!("sweep-{name}"), || Page::sweep(&sweep, &style))?;
    }
    let by_cpu = Style::default().with_paper(Paper::Letter).with_color_by(ColorBy::Cpu).with_cpu_max(7200.0);
    write(folder, "letter", || Page::run(&support::ramp("perfectnio"), &by_cpu))?;
    let viridis = Style::default().with_palette(Palette::Viridis);
    write(folder, "viridis", || Page::run(&support::ramp("perfectnio"), &viridis))?;
    let field = support::field();
    write(folder, "field", || Page::test("2048", &field, &style))?;
    write(folder, "pair", || Page::test("2048", &field[..2], &style))?;
    let days = [support::day(), support::steady("rails", 2_400.0, 0.3, 86_400)];
    write(folder, "days", || Page::test("2048", &days, &style))?;
    let crowd: Vec<_> =
        (0..70).map(|at| support::steady(&format!("f{at}"), 500.0 * f64::from(at), 0.05, 100)).collect();
    write(folder, "crowd", || Page::test("2048", &crowd, &style))
}

fn write(folder: &Path, name: &str, page: impl FnOnce() -> Page) -> Result<(), Box<dyn std::error::Error>> {
    let start = Instant::now();
    let page = page();
    let laid_out = start.elapsed();
    let svg = page.svg();
    let drawn = start.elapsed();
    let pdf = pdf(std::slice::from_ref(&page))?;
    let printed = start.elapsed();
    let png = png(&page, 2.0)?;
    let all = start.elapsed();
    std::fs::write(folder.join(name).with_extension("svg"), &svg)?;
    std::fs::write(folder.join(name).with_extension("pdf"), &pdf)?;
    std::fs::write(folder.join(name).with_extension("png"), &png)?;
    let line = format!(
        "{name}: laid out {laid_out:.1?}, SVG {:.1?}, PDF {:.1?}, PNG {:.1?}",
        drawn - laid_out,
        printed - drawn,
        all - printed
    );
    std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes())?;
    let sizes =
        format!("; SVG {} KB, PDF {} KB, PNG {} KB\n", svg.len() / 1024, pdf.len() / 1024, png.len() / 1024);
    std::io::Write::write_all(&mut std::io::stderr(), sizes.as_bytes())?;
    Ok(())
}
