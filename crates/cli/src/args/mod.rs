//! Flags that several commands share, by what they are about. The flags of a single command are beside that command.

mod cpu;
mod figure;
mod output;
mod reading;
mod runs;
mod store;
mod style;
mod values;
mod view;

pub(crate) use self::cpu::{
    AskArgs, CoresArgs, CpuFromArgs, CpuJoinArgs, CpuReadArgs, CpuScaleArg, LOOKBACK, SeriesArgs,
};
pub(crate) use self::figure::{FigureArgs, FigureChoice};
pub(crate) use self::output::{
    FileArgs, OutputArgs, ReportFormat, ReportOutputArgs, TerminalArgs, VerdictFormat, VerdictOutputArgs,
    When,
};
pub(crate) use self::reading::{INJECTORS, LogArgs};
pub(crate) use self::runs::{ConfirmArgs, PointArgs, RunNameArgs, RunsArgs, TestArgs, repeat};
pub(crate) use self::store::{BaselineStoreArgs, NoStoreArgs, SendArgs, StoreArgs};
pub(crate) use self::style::{ChartArgs, LinePagesArgs, PageFormat, PageFormatArgs, PageOptions, SheetArgs};
pub(crate) use self::values::{Choice, FailOn, PartChoice, Tag, choice, parse as span, tag_key};
pub(crate) use self::view::{GoalArgs, ScopeArgs, ViewArgs};
