//! Tables on a terminal: their width and their colours.

use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;

use anyhow::Result;
use perfpipe_analyze::table::{Format, Table, Terminal};

use super::Output;
use crate::args::{OutputArgs, TerminalArgs, When};

/// The flags of this process.
static FLAGS: OnceLock<TerminalArgs> = OnceLock::new();

/// Sets how this process shows its output; only the first call has an effect.
pub(crate) fn set(flags: TerminalArgs) {
    let _ = FLAGS.set(flags);
}

/// Writes a table in a format. On a terminal, text is fitted to the width and coloured.
pub(crate) fn write_table(table: &Table, format: Format, output: &mut Output) -> Result<()> {
    if format == Format::Text {
        output.write_all(table.shown(terminal(output)).as_bytes())?;
    } else {
        table.write(format, output)?;
    }
    Ok(())
}

/// The output of a command whose notes are enough for people: a table is written only if a format or a file is asked for.
pub(crate) struct TableOutput {
    /// Nothing if notes are enough.
    output: Option<Output>,
    format: Format,
}

impl TableOutput {
    /// Opens the output before any work is done.
    ///
    /// # Errors
    /// If it can't be written.
    pub(crate) fn begin(args: &OutputArgs) -> Result<Self> {
        let output = (!args.is_notes()).then(|| Output::open(args.file.output.as_deref())).transpose()?;
        Ok(Self { output, format: args.format() })
    }

    /// Writes the table, unless notes are enough.
    ///
    /// # Errors
    /// If it can't be written.
    pub(crate) fn write(self, table: impl FnOnce() -> Table) -> Result<()> {
        let Some(mut output) = self.output else { return Ok(()) };
        write_table(&table(), self.format, &mut output)?;
        output.finish()
    }

    /// Leaves the output as it was.
    pub(crate) fn discard(self) {
        if let Some(output) = self.output {
            output.discard();
        }
    }
}

fn flags() -> TerminalArgs {
    FLAGS.get().copied().unwrap_or_default()
}

/// Returns true if tables are to be shown whole.
pub(crate) fn is_wide() -> bool {
    flags().wide
}

/// Describes the terminal that an output goes to.
fn terminal(output: &Output) -> Terminal {
    let is_terminal = matches!(output, Output::Stdout(_)) && io::stdout().is_terminal();
    let shows_colors = is_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let mut terminal = Terminal::default();
    let has_colors = match flags().color {
        When::Always => true,
        When::Auto => shows_colors && std::env::var_os("TERM").is_none_or(|value| value != "dumb"),
        When::Never => false,
    };
    if has_colors {
        terminal = terminal.with_colors();
    }
    match terminal_size::terminal_size() {
        Some((terminal_size::Width(width), _)) if is_terminal && !flags().wide => {
            terminal.with_width(usize::from(width))
        }
        _ => terminal,
    }
}

/// The columns and lines of the terminal; those of the oldest ones if they are not known.
pub(crate) fn size() -> (usize, usize) {
    match terminal_size::terminal_size() {
        Some((terminal_size::Width(width), terminal_size::Height(height))) => {
            (usize::from(width), usize::from(height))
        }
        None => (80, 24),
    }
}
