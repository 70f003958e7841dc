//! Single figures of a report: which are drawn, and what is said of those that can't be.

use anyhow::Result;
use perfpipe_analyze::{Sweep, Timeline};
use perfpipe_plot::{Error, FigureSize, Page, Style};

use super::note;
use super::pages::{Pages, Subject};
use crate::args::FigureChoice;
use crate::error::CliError;

/// The choices of a report as parts of the file names of figures.
pub(crate) struct FigureNames {
    pub(crate) of_runs: Vec<String>,
    pub(crate) by_load: Vec<String>,
    pub(crate) of_tests: Vec<String>,
}

/// The figures of a report.
pub(crate) struct Figures<'a> {
    figures: Vec<FigureChoice>,
    size: &'a FigureSize,
    choices: FigureNames,
    drawn: usize,
    /// Why the first one was not drawn.
    lacking: Option<Error>,
}

impl<'a> Figures<'a> {
    /// Starts to draw figures.
    pub(crate) fn new(figures: Vec<FigureChoice>, size: &'a FigureSize, choices: FigureNames) -> Self {
        Self { figures, size, choices, drawn: 0, lacking: None }
    }

    /// Returns the number of files in each format, for so many runs of a test.
    pub(crate) fn count(figures: &[FigureChoice], runs: usize) -> usize {
        figures.iter().map(|figure| if matches!(figure, FigureChoice::Test(_)) { 1 } else { runs }).sum()
    }

    /// Draws the figures of a test's runs. Names those that can't be drawn, since the run lacks what they show.
    ///
    /// # Errors
    /// If a figure has no room, or if it can't be written.
    pub(crate) fn draw(
        &mut self,
        test: &str,
        (timelines, sweeps): (&[Timeline], &[Sweep]),
        style: &Style,
        pages: &mut Pages<'_>,
    ) -> Result<()> {
        for figure in self.figures.clone() {
            match figure {
                FigureChoice::Run(figure) => {
                    for timeline in timelines {
                        let page = Page::run_figure(timeline, figure, self.size, style);
                        let subject = Subject::RunFigure(&timeline.info.key, figure);
                        self.write(page, figure.name(), subject, pages)?;
                    }
                }
                FigureChoice::Load(figure) => {
                    for sweep in sweeps {
                        let page = Page::load_figure(sweep, figure, self.size, style);
                        let subject = Subject::LoadFigure(&sweep.info.key, figure);
                        self.write(page, figure.name(), subject, pages)?;
                    }
                }
                FigureChoice::Test(figure) => {
                    let page = Page::test_figure(test, timelines, figure, self.size, style);
                    self.write(page, figure.name(), Subject::TestFigure(test, figure), pages)?;
                }
            }
        }
        Ok(())
    }

    fn write(
        &mut self,
        page: perfpipe_plot::Result<Page>,
        figure: &str,
        subject: Subject<'_>,
        pages: &mut Pages<'_>,
    ) -> Result<()> {
        let choices = match subject {
            Subject::RunFigure(..) => &self.choices.of_runs,
            Subject::LoadFigure(..) => &self.choices.by_load,
            _ => &self.choices.of_tests,
        };
        match page {
            Ok(page) => {
                self.drawn += 1;
                pages.page(&page, subject, choices)
            }
            Err(error @ Error::NothingToDraw { .. }) => {
                note(&format!("no figure {figure}: {error}"));
                self.lacking.get_or_insert(error);
                Ok(())
            }
            Err(error @ Error::FigureHeight { .. }) => {
                let remedy = error.remedy().unwrap_or_default();
                Err(CliError::usage(error.to_string(), remedy).into())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Ends the drawing.
    ///
    /// # Errors
    /// If there was nothing to draw in any figure.
    pub(crate) fn end(self) -> Result<()> {
        match self.lacking {
            Some(error) if self.drawn == 0 => Err(error.into()),
            _ => Ok(()),
        }
    }
}
