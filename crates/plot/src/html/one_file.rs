//! The report of a test as one HTML file: the page of a site, with its program, its style and its data in it.

use perfpipe_analyze::format::one_line;
use perfpipe_analyze::{League, Timeline, Trends};

use super::policy_source;
use super::site::{PAGE, RUNS, ReportRun, SITE_FILES, SiteIndex, SiteRun, run_id, styled_run_script};
use super::site_test::site_test;
use crate::error::Result;
use crate::output::svg::escaped;
use crate::style::Style;

/// What of the page of a site loads its neighbours.
const STYLE_LINK: &str = "<link rel=\"stylesheet\" href=\"app.css\">\n";
const SCRIPTS: &str = "<script src=\"app.js\"></script>\n<script src=\"runs.js\" defer></script>\n";

/// What it may load, and its title.
const SCRIPT_POLICY: &str = "script-src 'self' 'wasm-unsafe-eval'";
const STYLE_POLICY: &str = "style-src 'self'";
/// Of its server a site may ask for pictures and for what is new.
const SERVER_POLICY: &str = "img-src 'self' data: blob:; connect-src 'self';";
const TITLE: &str = "<title>perfpipe</title>";

/// What its end begins with.
const END: &str = "</body>";

/// The name of what the file has instead of a store.
const NAME: &str = "Report";

/// Writes the report of a test as a single HTML file that needs no network: the page of a site with the data of these runs in
/// it.
///
/// It opens on its run, or on the test if it has several: the league, the frameworks laid over each other, and for each run
/// what stands out, the rules, its charts, labels and failures. Several runs can be compared in it. Without scripts, a table of
/// the runs is shown. The content security policy of the file forbids it to load anything.
///
/// The same runs give the same text.
#[derive(Debug, Default)]
pub struct HtmlReport {
    style: Style,
    runs: Vec<SiteRun>,
    /// The data of each run, as a script.
    scripts: Vec<String>,
}

impl HtmlReport {
    /// Starts a report without runs. Of the style it has what the colours of requests show, the top of the CPU axis, and the
    /// times on axes.
    pub fn new(style: &Style) -> Self {
        Self { style: style.clone(), ..Self::default() }
    }

    /// Adds a run with its figures ([`perfpipe_analyze::RunFigures::bytes`]), by which it is compared. They are packed at once,
    /// so that the run itself need not be kept.
    ///
    /// # Errors
    /// [`crate::Error::Html`] if the data can't be written.
    pub fn add(&mut self, run: &ReportRun<'_>, figures: &[u8]) -> Result<()> {
        self.scripts.push(styled_run_script(run, figures, &self.style)?);
        self.runs.push(SiteRun::new(run, run_id(&run.timeline.info.key)));
        Ok(())
    }

    /// Returns the texts of which the file is made, one after the other, given the league of the runs, the runs, of which the seconds may be left out, and what their figures do
    /// from version to version; `by` says what makes runs one version.
    ///
    /// # Errors
    /// [`crate::Error::Html`] if the data can't be written.
    pub fn texts(
        self,
        league: &League,
        timelines: &[Timeline],
        trends: &[Trends],
        by: &str,
    ) -> Result<Vec<String>> {
        let title = match self.runs.as_slice() {
            [run] => run.title(),
            _ => league.test.clone(),
        };
        let files = site_test(league, timelines, trends, by)?;
        let index = SiteIndex::new(NAME, vec![files.test], self.runs, None).starting();
        let [(_, program), (_, style), (_, engine)] = SITE_FILES;
        let is_compared = index.runs().len() > 1;
        let mut scripts = vec![index.script()?];
        scripts.extend(files.files.into_iter().map(|(_, script)| script));
        scripts.extend(self.scripts);
        scripts.extend(is_compared.then(|| engine.to_owned()));
        let hashes: String =
            std::iter::once(program).chain(scripts.iter().map(String::as_str)).map(policy_source).collect();
        let engine_policy = if is_compared { " 'wasm-unsafe-eval'" } else { "" };
        // What comes from users is put in last, so that nothing in it is taken for a place to put something.
        let page = PAGE
            .replace(SCRIPT_POLICY, &format!("script-src{hashes}{engine_policy}"))
            .replace(STYLE_POLICY, &format!("style-src{}", policy_source(style)))
            .replace(SERVER_POLICY, "img-src data: blob:;")
            .replace(STYLE_LINK, &format!("<style>{style}</style>\n"))
            .replace(SCRIPTS, &format!("<script>{program}</script>\n"))
            .replace(TITLE, &format!("<title>{} – perfpipe</title>", escaped(&one_line(&title))))
            .replace(RUNS, &index.table());
        let (before, end) = page.rsplit_once(END).unwrap_or((&page, ""));
        let mut texts = vec![before.to_owned()];
        for script in scripts {
            texts.extend(["<script>".to_owned(), script, "</script>\n".to_owned()]);
        }
        texts.push(format!("{END}{end}"));
        Ok(texts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_of_a_site_has_what_is_replaced() {
        for part in [STYLE_LINK, SCRIPTS, SCRIPT_POLICY, STYLE_POLICY, SERVER_POLICY, TITLE, RUNS, END] {
            assert_eq!(PAGE.matches(part).count(), 1, "{part}");
        }
        let [(_, program), (_, style), _] = SITE_FILES;
        for part in ["</script", "<!--", "<script", "</style", END, TITLE] {
            assert!(!program.contains(part) && !style.contains(part), "{part}");
        }
    }
}
