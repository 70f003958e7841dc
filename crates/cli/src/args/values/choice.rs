//! Enums of the libraries as values of flags.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use perfpipe_analyze::Phase;
use perfpipe_analyze::table::Format;
use perfpipe_plot::{ColorBy, Palette, Paper, Times};

/// An enum of a library whose variants are values of a flag.
pub(crate) trait Choice: Copy + Send + Sync + 'static {
    /// Returns the value on the command line.
    fn name(self) -> &'static str;

    /// Returns the help on the value; empty if its name says it.
    fn help(self) -> &'static str {
        ""
    }
}

/// Returns the parser for one of these choices; the help lists all of them.
pub(crate) fn choice<T: Choice>(all: &'static [T]) -> impl TypedValueParser<Value = T> {
    let shown = all.iter().map(|one| match one.help() {
        "" => PossibleValue::new(one.name()),
        help => PossibleValue::new(one.name()).help(help),
    });
    let find = |name: String| all.iter().copied().find(|one| one.name() == name);
    PossibleValuesParser::new(shown).try_map(move |name| find(name).ok_or("not one of the choices"))
}

impl Choice for Format {
    fn name(self) -> &'static str {
        Self::name(self)
    }
}

impl Choice for Phase {
    fn name(self) -> &'static str {
        Self::name(self)
    }

    fn help(self) -> &'static str {
        match self {
            Self::Ramp => "The load climbs",
            Self::Hold => "The load is level at its peak",
            Self::Tail => "After the hold",
        }
    }
}

impl Choice for Paper {
    fn name(self) -> &'static str {
        Self::name(self)
    }
}

impl Choice for ColorBy {
    fn name(self) -> &'static str {
        Self::name(self)
    }
}

impl Choice for Times {
    fn name(self) -> &'static str {
        Self::name(self)
    }
}

impl Choice for Palette {
    fn name(self) -> &'static str {
        Self::name(self)
    }

    fn help(self) -> &'static str {
        match self {
            Self::Original => "Purple to red",
            Self::Viridis => "Dark to light, readable with any colour vision",
            _ => "",
        }
    }
}
